#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "collectives/hierarchical.hpp"
#include "collectives/node_arrival.hpp"
#include "collectives/node_exchange.hpp"
#include "engine/program_cache.hpp"
#include "transport/lane_transport.hpp"
#include "transport/node_arena.hpp"
#include "transport/transport.hpp"

namespace rondo::engine {

/// What the ranks of a communicator that share this node have in common: memory through which they
/// meet, and the collectives on it.
class Node {
 public:
  /// The arena is joined. `all` must live as long as this.
  Node(std::unique_ptr<transport::NodeArena> arena, transport::Transport& all);

  /// Whether it has all ranks of the communicator.
  bool is_all() const { return !across_; }
  bool crowded() const { return arena_->crowded(); }
  transport::NodeArena& arena() { return *arena_; }

  // Where it has all ranks:
  collectives::NodeArrival& arrival() { return arrival_; }
  collectives::NodeExchange& exchange() { return exchange_; }

  /// As NodeArrival has it.
  std::optional<collectives::Begun> begun_by_another(std::uint64_t sequence) const {
    return is_all() ? arrival_.begun_by_another(sequence) : std::nullopt;
  }

  // Where there are other nodes:
  collectives::Hierarchical& hierarchical() { return across_->all_reduce; }
  /// What this rank's lane runs; null beyond the lanes.
  const collectives::Program* lane_program(const collectives::Algorithm& algorithm);
  int lanes() const { return across_->lanes; }

 private:
  struct Across {
    Across(transport::NodeArena& arena, transport::Transport& all);
    int lanes;
    std::unique_ptr<transport::LaneTransport> lane;  // null beyond the lanes
    std::optional<ProgramCache> programs;            // likewise
    collectives::Hierarchical all_reduce;
  };

  std::unique_ptr<transport::NodeArena> arena_;
  collectives::NodeArrival arrival_;
  collectives::NodeExchange exchange_;
  std::unique_ptr<Across> across_;
};

}  // namespace rondo::engine
