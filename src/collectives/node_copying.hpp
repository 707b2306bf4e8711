#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "collectives/block_combiner.hpp"
#include "collectives/node_operands.hpp"
#include "collectives/node_slices.hpp"
#include "collectives/shared_stores.hpp"
#include "transport/node_arena.hpp"

namespace rondo::collectives {

/// A collective among the ranks of a node on memory of any kind, by copying through the arena in
/// pieces that stay in the caches:
///
///   stage    this rank's part of the others' slices  → its stage
///   reduce   its own slice, of its input and the others' stages  → its result, its output
///   fetch    the others' slices, of their results  → its output
///
/// Each is a counter of pieces that the others watch. A piece may be
///   staged   when the others have reduced piece k - kStages, and so read this stage;
///   reduced  when the others have staged it, and fetched piece k - kStages of this result;
///   fetched  when the others have reduced it.
/// Nobody waits for more than it reads, and up to kStages pieces are under way.
class NodeCopying {
 public:
  NodeCopying(transport::NodeArena& arena, SharedStores& stores) : arena_(arena), stores_(stores) {}

  void start(const NodeOperands& operands);
  /// Never blocks. True once this rank's memory is its own again.
  bool step();
  bool progressed() const { return progressed_; }
  /// Of a reduce-scatter: how many elements of this rank's block are done, from its beginning.
  std::size_t made() const;

 private:
  using Counter = transport::WatchedCounter transport::NodeArea::*;

  std::size_t slice_bytes() const;
  bool advance();
  bool can_stage();
  bool can_reduce();
  bool can_fetch();
  void stage();
  void reduce();
  void fetch();

  bool others_have(Counter counter, std::size_t piece);
  bool others_have_left(Counter counter, std::size_t piece);
  void tell(Counter counter, std::size_t pieces);
  std::size_t entry(std::size_t piece) const;
  std::byte* staged_for(int reader, int owner, std::size_t piece) const;
  std::byte* result_of(int owner, std::size_t piece) const;

  transport::NodeArena& arena_;
  SharedStores& stores_;
  NodeOperands operands_;
  NodeSlices slices_;
  std::vector<const void*> sources_;
  BlockCombiner combiner_;
  std::uint64_t base_ = 0;  // pieces of all earlier operations
  std::size_t staged_ = 0;  // pieces of this operation
  std::size_t reduced_ = 0;
  std::size_t fetched_ = 0;
  bool progressed_ = false;
};

}  // namespace rondo::collectives
