#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>

#include "device/runtime.hpp"
#include "support/host_memory.hpp"

namespace rondo::testing {

class HostStream;

/// Devices made of threads and of memory that faults when the host touches it: what runs on a GPU
/// runs here as well, without one. A stream is a thread that does its work in order.
///
/// Work can be made to fail, and to take its time: a stream then sleeps before each piece of
/// work, every other one longer, so that what isn't ordered shows.
class HostDevice : public device::Runtime {
 public:
  explicit HostDevice(int devices = 1);
  ~HostDevice() override;

  std::string_view name() const override { return "host device"; }
  int device_count() override { return devices_; }
  device::Location locate(const void* address) noexcept override;
  void* allocate(device::Location where, std::size_t bytes) override;
  void free(device::Location where, void* memory) noexcept override;
  std::optional<device::SharedAddress> share(const void* address) noexcept override;
  std::uint64_t allocation_at(const void* address) noexcept override;
  /// Another address, where the same bytes lie, and which is unknown after close().
  void* open(const device::SharedAllocation& allocation, int device) override;
  void close(const device::SharedAllocation& allocation, int device,
             void* memory) noexcept override;
  std::unique_ptr<device::Stream> make_stream(int device) override;
  /// `handle` is a HostStream's address.
  std::unique_ptr<device::Stream> wrap_stream(int device, void* handle) override;
  std::unique_ptr<device::Event> make_event(int device) override;
  device::Identity identity(int device) override;
  /// Those of use_groups(); there are none before.
  device::GroupMaker& groups() override;

  void use_groups(device::GroupMaker* groups) { groups_ = groups; }
  /// Where the device's work reaches memory of any kind.
  std::byte* reach(const void* address, std::size_t bytes) {
    return memory_.open(address, bytes, false);
  }

  /// The allocation after `allocations` more of them fails.
  void fail_allocation(int allocations) { until_failed_allocation_ = allocations; }
  /// The copy after `copies` more of them fails when its turn comes, long after it was enqueued.
  void fail_copy(int copies) { until_failed_copy_ = copies; }
  /// The same for reductions.
  void fail_reduction(int reductions) { until_failed_reduction_ = reductions; }
  /// The call of open() after `calls` more of them fails.
  void fail_open(int calls) { until_failed_open_ = calls; }
  /// The allocation that holds `address` can't be shared, as if it came from a pool.
  void keep_private(const void* address) { memory_.keep_private(address); }
  void dawdle() { dawdles_ = true; }
  /// What wasn't freed, or closed.
  std::size_t allocations() { return memory_.allocations(); }

 private:
  friend class HostStream;

  void check_device(int device) const;
  HostStream& default_stream(int device);

  int devices_;
  HostMemory memory_;
  device::GroupMaker* groups_ = nullptr;
  std::atomic<int> until_failed_allocation_{-1};
  std::atomic<int> until_failed_copy_{-1};
  std::atomic<int> until_failed_reduction_{-1};
  std::atomic<int> until_failed_open_{-1};
  std::atomic<bool> dawdles_{false};
  std::mutex mutex_;                                            // of the default streams
  std::map<int, std::unique_ptr<HostStream>> default_streams_;  // by device
};

}  // namespace rondo::testing
