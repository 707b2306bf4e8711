#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "transport/late_views.hpp"
#include "transport/shm_heap.hpp"
#include "transport/shm_segment.hpp"

namespace rondo::transport {

/// A number that its owner alone raises and that the other ranks of the node watch; alone in its
/// cache line.
struct alignas(64) WatchedCounter {
  std::atomic<std::uint64_t> value{0};
};

/// One rank's word that it has come to its arrival `count`. One cache line, since that is what an
/// operation's latency is made of.
struct alignas(64) Arrival {
  std::atomic<std::uint64_t> count{0};  // written last
  std::uint64_t digest = 0;             // of what this rank wants to do
  std::array<std::byte, 48> payload{};
};
static_assert(sizeof(Arrival) == 64 && std::atomic<std::uint64_t>::is_always_lock_free);

/// Where a rank that waits for the others' numbers sleeps. Who raises one of them rings. Alone in
/// its cache line, which stays in everybody's cache while nobody sleeps.
struct alignas(64) Bell {
  std::atomic<std::uint32_t> awaited{0};  // 1 from before the sleeper's last look until it is rung
};

/// What one rank of a node shows to the others; but for the bell, it alone writes here.
struct NodeArea {
  /// What fits neither into an Arrival lies here.
  static constexpr std::size_t kPayloadBytes = std::size_t{16} * 1024;
  // A stage that is used again soon is dear: the peer's copy of each line must be taken away, where
  // lines that have left this core's own caches meanwhile are taken from the shared one.
  static constexpr std::size_t kStages = 16;
  static constexpr std::size_t kStageBytes = std::size_t{32} * 1024;

  // Arrival k uses the entries k % 2. An entry is free again at arrival k + 2, since that comes
  // after every rank's arrival k + 1, by which every rank has left operation k.
  std::array<Arrival, 2> arrivals;
  alignas(64) std::array<std::array<std::byte, 128>, 2> signatures;

  // Pieces that this rank has put into its stage, reduced, and fetched from the others, over all
  // operations so far.
  WatchedCounter staged;
  WatchedCounter reduced;
  WatchedCounter fetched;

  // Of all-reduces over several nodes: where this rank's slice is, chunks of it that are back from
  // the network, and operations in which this rank has all it needs of the others' slices.
  Location lane_memory;
  std::uint64_t lane_bytes = 0;
  WatchedCounter published;
  WatchedCounter collected;

  // How this rank's claim of the areas of further arenas went.
  static constexpr std::uint64_t kRefused = 1;
  static constexpr std::uint64_t kCommitted = 2;
  WatchedCounter more;

  Bell bell;  // for all arenas: in the first one

  alignas(4096) std::array<std::array<std::byte, kPayloadBytes>, 2> payloads;
  // Piece k uses the entries k % kStages.
  alignas(4096) std::array<std::array<std::byte, kStageBytes>, kStages> stages;
  alignas(4096) std::array<std::array<std::byte, kStageBytes>, kStages> results;
};

/// The memory through which the ranks of one communicator that share a node meet. Each rank makes
/// its own area (first touch: it lies near its owner) and maps those of the others.
///
/// sizeof(NodeArea), about 1 MiB, for each rank and communicator, and as much for each of the
/// further arenas once they are claimed; nothing more is ever allocated.
class NodeArena {
 public:
  /// In a stage there is a cache line or more for each other rank.
  static constexpr int kMostRanks = 1 + static_cast<int>(NodeArea::kStageBytes / sizeof(Arrival));

  /// Further arenas that the same ranks can have.
  static constexpr int kMoreAreas = 2;

  /// What a rank tells the others of its node. Plain memory.
  struct Offer {
    SegmentName area;
    std::array<std::uint64_t, 16> processors{};  // a bit for each that this rank may run on
  };

  /// Makes this rank's area. Throws Error(system).
  NodeArena();

  Offer offer() const;
  /// Maps the areas of all ranks of the node, of which this is number `self`. Throws Error(system),
  /// also for more than kMostRanks.
  void join(std::span<const Offer> offers, int self);
  /// Once all ranks have joined: what name the memory has isn't needed any more.
  void forget_name() noexcept { own_->forget_name(); }

  /// Commits this rank's areas of the further arenas, and tells the others how that went. Further
  /// calls do nothing. Throws Error(system).
  void claim_more();
  /// Whether every rank has committed its own; nothing while some rank has not claimed them.
  std::optional<bool> all_have_more();
  /// Further arena `index`, once all have it.
  std::unique_ptr<NodeArena> more(int index) const;

  int size() const { return static_cast<int>(areas_.size()); }
  int self() const { return self_; }
  NodeArea& mine() { return *areas_[static_cast<std::size_t>(self_)]; }
  NodeArea& of(int rank) const { return *areas_[static_cast<std::size_t>(rank)]; }
  MappedSegments& mapped() { return mapped_; }

  /// True when the node has fewer processors for these ranks than there are ranks, so that a rank
  /// that waits must let others run.
  bool crowded() const { return crowded_; }

  /// Raises a number of this rank's that the others watch: what it wrote before it can then be
  /// read, and who sleeps looks at it.
  void raise(std::atomic<std::uint64_t>& number, std::uint64_t value) {
    number.store(value, std::memory_order_release);
    for (Bell* bell : others_bells_)
      if (bell->awaited.load(std::memory_order_relaxed) != 0) ring(*bell);
  }
  /// Sleeps until another rank raises a number, or for a millisecond. The first call only announces
  /// the sleep, so that the caller looks once more. A number raised at that very moment may not
  /// ring; hence the millisecond.
  void sleep();

  /// Tests only: has_reached() notices what the others tell after a random while.
  void delay(std::uint64_t seed) {
    delay_seed_ = seed;
    late_.emplace(seed);
  }
  /// Whether a peer's number is there yet; what the peer wrote before it is then visible. Every
  /// wait on shared memory comes down to this.
  bool has_reached(const std::atomic<std::uint64_t>& value, std::uint64_t wanted) {
    if (late_) return late_->look_at(value) >= wanted;
    return value.load(std::memory_order_acquire) >= wanted;
  }

 private:
  struct Further {};
  explicit NodeArena(Further) {}
  void find_areas(int index);
  static void ring(Bell& bell);

  // Shared with other arenas, and with the owners where they are in this process.
  std::shared_ptr<SharedSegment> own_;
  std::vector<std::shared_ptr<SharedSegment>> segments_;
  std::vector<NodeArea*> areas_;
  std::vector<Bell*> others_bells_;
  MappedSegments mapped_;
  int self_ = 0;
  bool crowded_ = false;
  std::uint64_t delay_seed_ = 0;
  std::optional<LateViews> late_;
};

}  // namespace rondo::transport
