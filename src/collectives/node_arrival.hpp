#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "collectives/agreement.hpp"
#include "collectives/signature.hpp"
#include "transport/node_arena.hpp"

namespace rondo::collectives {

/// What a rank has begun.
struct Begun {
  Rank rank = -1;
  Signature signature;
};

/// The agreement of the ranks of a node: each writes what it wants to do into its own area, with a
/// few bytes of data beside, and reads what the others wrote.
///
/// One cache line from each rank to each other one. It is a barrier too.
class NodeArrival {
 public:
  /// `ranks` are the arena's ranks as the communicator numbers them.
  NodeArrival(transport::NodeArena& arena, std::vector<Rank> ranks)
      : arena_(arena), ranks_(std::move(ranks)) {}

  /// Where this rank may put what it wants to tell along with its next start(): room for `bytes`,
  /// at most NodeArea::kPayloadBytes.
  std::byte* prepare(std::size_t bytes);
  /// `terms` is the signature's digest_of_terms().
  void start(const Signature& signature, std::uint64_t terms);
  /// Never blocks, but looks a few times. True once every rank has arrived.
  bool step();
  bool arrived() const { return next_ == arena_.size(); }
  bool progressed() const { return progressed_; }
  /// Set when step() has found a rank whose signature differs: the same two on every rank.
  const std::optional<Conflict>& conflict() const { return conflict_; }

  /// The operation `sequence` of a rank that has begun it here, while this rank has not: they
  /// disagree if this rank has begun it elsewhere. Not for the path of a call that waits for
  /// nothing.
  std::optional<Begun> begun_by_another(std::uint64_t sequence) const;

  /// What a rank that has arrived told along.
  const std::byte* told_by(int node_rank) const { return place(arena_.of(node_rank)); }

 private:
  std::size_t entry() const { return static_cast<std::size_t>(count_ % 2); }
  std::byte* place(transport::NodeArea& area) const {
    return large_ ? area.payloads[entry()].data() : area.arrivals[entry()].payload.data();
  }
  bool has_arrived(int node_rank);
  void compare(int node_rank);
  Signature signature_of(int node_rank) const;

  transport::NodeArena& arena_;
  std::vector<Rank> ranks_;
  std::array<std::uint64_t, 2> terms_{};  // of the signatures that lie in the arena
  std::optional<Conflict> conflict_;
  std::uint64_t count_ = 0;
  bool large_ = false;
  bool progressed_ = false;
  int next_ = 0;  // every rank before it has arrived
};

}  // namespace rondo::collectives
