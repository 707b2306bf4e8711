#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>

#include "device/group.hpp"
#include "support/host_device.hpp"

namespace rondo::testing {

/// Collectives of a HostDevice's own, among ranks that are threads.
class HostGroups : public device::GroupMaker {
 public:
  explicit HostGroups(HostDevice& device) : device_(device) {}

  std::string_view name() const override { return "host groups"; }
  device::GroupId make_id() override;
  std::unique_ptr<device::Group> join(const device::GroupId& id, Rank rank, int size,
                                      int device) override;

  /// No group can be made.
  void refuse_ids() { refuses_ids_ = true; }
  /// This rank never joins, so that nobody does.
  void lose(Rank rank) { lost_ = rank; }
  /// This rank's next call fails once it is under way.
  void fail_call(Rank rank) { failing_ = rank; }
  /// This rank's next call is never over.
  void stall_call(Rank rank) { stalled_ = rank; }
  /// Calls that all ranks completed, and groups that were aborted.
  int calls() const { return calls_; }
  int aborts() const { return aborts_; }

  struct Meeting;

 private:
  friend class HostGroup;

  HostDevice& device_;
  std::mutex mutex_;  // of the meetings, and of what is in them
  std::map<std::uint64_t, std::shared_ptr<Meeting>> meetings_;
  std::uint64_t made_ = 0;
  std::atomic<bool> refuses_ids_{false};
  std::atomic<Rank> lost_{-1};
  std::atomic<Rank> failing_{-1};
  std::atomic<Rank> stalled_{-1};
  std::atomic<int> calls_{0};
  std::atomic<int> aborts_{0};
};

}  // namespace rondo::testing
