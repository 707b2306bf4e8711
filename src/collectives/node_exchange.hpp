#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "collectives/node_arrival.hpp"
#include "collectives/node_copying.hpp"
#include "collectives/node_direct.hpp"
#include "collectives/node_operands.hpp"
#include "collectives/shared_stores.hpp"
#include "transport/node_arena.hpp"

namespace rondo::collectives {

/// A collective among the ranks of a node, which read and write each other's memory, in one of
/// three ways:
///
///   small    each tells its input along with its arrival; who gets something combines it from what
///            all told
///   copying  in pieces through the arena (NodeCopying)
///   direct   straight from the inputs into the outputs (NodeDirect), if all of them can be mapped
///
/// All give the same bits, the canonical value of deterministic mode: ranks are combined in their
/// order and rounded once. The way follows from the size and from what all ranks told, never from
/// what one of them believes.
class NodeExchange {
 public:
  NodeExchange(transport::NodeArena& arena, NodeArrival& arrival)
      : arena_(arena), arrival_(arrival), copying_(arena, stores_), direct_(arena) {}

  /// Begins, with this rank's arrival under `signature`, whose digest_of_terms() `terms` is; the
  /// blocks' layout must live until the end.
  void start(const NodeOperands& operands, const Signature& signature, std::uint64_t terms);
  /// Never blocks. True once this rank's memory is its own again; never after a conflict of the
  /// arrival.
  bool step();
  bool progressed() const { return progressed_; }
  /// "node, small", "node, copying" or "node, direct": how the last one was done.
  std::string_view way() const;

 private:
  enum class Way : std::uint8_t { small, undecided, copying, direct };

  bool is_small() const;
  void tell_input();
  void tell_places();
  void decide();
  void finish_small();

  transport::NodeArena& arena_;
  NodeArrival& arrival_;
  SharedStores stores_;
  NodeCopying copying_;
  NodeDirect direct_;
  NodeOperands operands_;
  Way way_ = Way::small;
  bool progressed_ = false;
  std::vector<const void*> sources_;
};

}  // namespace rondo::collectives
