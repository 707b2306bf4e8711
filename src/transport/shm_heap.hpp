#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "transport/shm_segment.hpp"

namespace rondo::transport {

/// Where memory lies, in terms that the other processes of the node understand.
struct Location {
  SegmentName segment;  // process 0: private memory
  std::uint64_t offset = 0;

  bool is_private() const { return segment.process == 0; }
};

/// The memory of this process that its peers can map: what SharedBuffer and SharedAllocator give
/// out. Small pieces share segments, larger ones have their own. Thread-safe.
class SharedHeap {
 public:
  static SharedHeap& instance();

  /// 64-byte aligned, contents undefined. Ordinary memory (and one line in the log) where there is
  /// no shared memory left, or it has taken half of the files that the process may open; throws
  /// std::bad_alloc where there is none at all.
  void* allocate(std::size_t bytes);
  void deallocate(void* memory, std::size_t bytes) noexcept;

  /// Where [memory, memory + bytes) lies.
  Location find(const void* memory, std::size_t bytes) const;

 private:
  /// Makes a segment of each allocation.
  class Segments final : public std::pmr::memory_resource {
   public:
    Location find(std::uintptr_t address, std::size_t bytes) const;

   private:
    void check_files() const;
    void* do_allocate(std::size_t bytes, std::size_t alignment) override;
    void do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) override;
    bool do_is_equal(const memory_resource& other) const noexcept override {
      return this == &other;
    }

    mutable std::shared_mutex mutex_;
    std::map<std::uintptr_t, std::shared_ptr<SharedSegment>> by_address_;  // see SharedSegment
  };

  SharedHeap();

  Segments segments_;
  std::pmr::synchronized_pool_resource pool_;
};

/// The segments of other processes that one communicator has needed so far. Not thread-safe.
class MappedSegments {
 public:
  /// Beyond `most` segments it starts anew.
  explicit MappedSegments(std::size_t most = 4096) : most_(most) {}

  /// The memory at `location`, mapped on first use; it stays mapped at least as long as what this
  /// gives back. Throws Error(system).
  std::shared_ptr<std::byte> at(const Location& location);

 private:
  std::size_t most_;
  // By serial; shared with their owners where these are ranks of this process.
  std::unordered_map<std::uint64_t, std::shared_ptr<SharedSegment>> segments_;
};

}  // namespace rondo::transport
