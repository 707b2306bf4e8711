#pragma once

#include <memory>
#include <vector>

#include "collectives/node_arrival.hpp"
#include "collectives/node_exchange.hpp"
#include "transport/node_arena.hpp"

namespace rondo::engine {

/// What the ranks of a communicator that all share a node have in common: memory through which they
/// meet, and the collectives on it.
struct Node {
  Node(std::unique_ptr<transport::NodeArena> shared, const std::vector<Rank>& ranks)
      : arena(std::move(shared)), arrival(*arena, ranks), exchange(*arena, arrival) {}

  std::unique_ptr<transport::NodeArena> arena;
  collectives::NodeArrival arrival;
  collectives::NodeExchange exchange;
};

}  // namespace rondo::engine
