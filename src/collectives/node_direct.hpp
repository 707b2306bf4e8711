#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "collectives/block_combiner.hpp"
#include "collectives/node_arrival.hpp"
#include "collectives/node_operands.hpp"
#include "collectives/node_slices.hpp"
#include "transport/node_arena.hpp"

namespace rondo::collectives {

/// Where a rank's buffers lie, as it tells the others.
struct NodePlaces {
  transport::Location input;
  transport::Location output;
};

/// A collective among the ranks of a node on memory that all of them can map: each rank combines
/// its slice straight from the inputs and stores it straight into the outputs; what is only moved
/// is copied by who gets it. Every byte is read and written once.
///
///   waits for every rank's arrival (all inputs are there), and at the end until every rank is done
class NodeDirect {
 public:
  explicit NodeDirect(transport::NodeArena& arena) : arena_(arena) {}

  /// Whether this rank's memory `places`, of what the way needs of it, can be mapped by the others.
  static bool allows(const NodePlaces& places, const NodeSlices::Shape& shape, int rank);

  /// All ranks have arrived and told their NodePlaces, which allow it. Throws Error(system) where
  /// memory can't be mapped.
  void start(const NodeOperands& operands, const NodeArrival& arrival);
  /// Never blocks. True once nobody touches this rank's memory any more.
  bool step();
  bool progressed() const { return progressed_; }

 private:
  void map(const NodeArrival& arrival);
  void combine();
  void collect();

  transport::NodeArena& arena_;
  NodeOperands operands_;
  NodeSlices slices_;
  // Keeps the peers' memory mapped; shared with what else uses their segments.
  std::vector<std::shared_ptr<std::byte>> held_;
  std::vector<Window> inputs_;   // of every rank, in this process
  std::vector<Window> outputs_;  // likewise
  std::vector<const void*> sources_;
  std::vector<Target> targets_;
  BlockCombiner combiner_;
  std::uint64_t base_ = 0;
  bool done_ = false;
  bool progressed_ = false;
};

}  // namespace rondo::collectives
