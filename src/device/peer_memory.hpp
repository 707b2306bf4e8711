#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "device/runtime.hpp"

namespace rondo::device {

/// One rank's buffers in a call, as it tells them to the others. Plain memory: it travels as it is.
struct PeerBuffers {
  SharedAddress input;         ///< allocation.number 0: it has none, or an empty one
  SharedAddress output;        ///< likewise
  std::uint64_t era = 0;       ///< what was shared in an earlier one is over
  std::int32_t device = 0;     ///< where its work is done
  std::uint8_t reachable = 0;  ///< whether all that it has can be shared
};

/// The allocations that a rank has shared with others. Those that it has freed, and all beyond
/// kMost, end an era, with which the others close what they have open of it.
class SharedAllocations {
 public:
  static constexpr std::size_t kMost = 16;

  /// For a call on these buffers of `device`; null for none.
  PeerBuffers offer(Runtime& runtime, int device, const void* input, const void* output);

 private:
  /// False where it can't be shared.
  bool add(Runtime& runtime, const void* buffer, SharedAddress& place);
  void begin_era();

  std::vector<SharedAllocation> known_;
  std::uint64_t era_ = 1;
};

/// What this rank has opened of the others' allocations, one call after another. As all ranks see
/// the same offers in the same order, they know of each other what they have open.
class PeerMemory {
 public:
  explicit PeerMemory(int rank) : rank_(static_cast<std::size_t>(rank)) {}
  PeerMemory(const PeerMemory&) = delete;
  PeerMemory& operator=(const PeerMemory&) = delete;
  /// What work reads or writes there must be over.
  ~PeerMemory();

  /// The offers of all ranks in the next call, each reachable. Whether there is an allocation that
  /// isn't open yet: alike on all ranks.
  bool take(Runtime& runtime, std::span<const PeerBuffers> offers);
  /// Opens what isn't yet. Throws Error(cuda) where that fails; what is open then stays so.
  void open();
  /// Closes what is over, which may wait for all work of the device.
  void close_past() noexcept;

  // Where this rank's work finds the buffers of another rank; null where it has none.
  std::byte* input_of(int rank) const { return at(rank, offers_[index(rank)].input); }
  std::byte* output_of(int rank) const { return at(rank, offers_[index(rank)].output); }

 private:
  struct Opened {
    SharedAllocation allocation;
    Runtime* runtime;
    int device;
    void* memory;  // null: not yet
  };
  struct Peer {
    std::uint64_t era = 0;
    std::vector<Opened> opened;
  };

  static std::size_t index(int rank) { return static_cast<std::size_t>(rank); }
  std::byte* at(int rank, const SharedAddress& address) const;
  bool add(Peer& peer, const SharedAllocation& allocation);
  void retire(Peer& peer);

  std::size_t rank_;
  Runtime* runtime_ = nullptr;
  std::vector<PeerBuffers> offers_;  // the latest
  std::vector<Peer> peers_;          // this rank among them, whose allocations it doesn't open
  std::vector<Opened> past_;
};

}  // namespace rondo::device
