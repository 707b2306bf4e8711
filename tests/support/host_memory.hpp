#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "device/runtime.hpp"

namespace rondo::testing {

/// The memory of a HostDevice. That of MemoryKind::device is mapped twice: at the address that
/// users get, where every access faults, and at another one, which only the device's own work
/// learns.
class HostMemory {
 public:
  HostMemory();
  ~HostMemory();

  void* allocate(device::Location where, std::size_t bytes);
  void free(void* memory);
  device::Location locate(const void* address);

  /// As device::Runtime has them; the handle is the number.
  std::optional<device::SharedAddress> share(const void* address);
  std::uint64_t number_at(const void* address);
  /// One more mapping of allocation `number`, to be freed as well. Throws Error(cuda) if it was
  /// freed.
  void* open_again(std::uint64_t number);
  void keep_private(const void* address);

  /// How many allocations and mappings there are; 0 when all were freed.
  std::size_t allocations();

  /// Where the device's work reaches `bytes` at `address`: there itself, or at the second mapping.
  /// Throws Error(cuda) if they aren't all in one allocation, or, with `on_device_only`, in memory
  /// that a device can't reach.
  std::byte* open(const void* address, std::size_t bytes, bool on_device_only);

 private:
  struct Block;

  std::mutex mutex_;
  std::map<const std::byte*, std::unique_ptr<Block>> blocks_;  // by where they begin
  std::uint64_t allocated_ = 0;                                // so far

  Block* find(const void* address);
  void* add(std::unique_ptr<Block> block);
};

}  // namespace rondo::testing
