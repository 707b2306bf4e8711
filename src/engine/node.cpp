#include "engine/node.hpp"

#include <utility>
#include <vector>

namespace rondo::engine {

using transport::LaneTransport;
using transport::NodeArena;
using transport::Topology;
using transport::Transport;

namespace {

/// The ranks that share this one's place in their nodes; null if not every node has it.
std::unique_ptr<LaneTransport> lane_of(Transport& all) {
  const Topology& topology = all.topology();
  const int place = topology.node_rank(all.rank());
  if (place >= topology.lanes()) return nullptr;
  std::vector<Rank> ranks;
  for (int node = 0; node < topology.nodes(); ++node)
    ranks.push_back(topology.ranks_of(node)[static_cast<std::size_t>(place)]);
  return std::make_unique<LaneTransport>(all, std::move(ranks));
}

}  // namespace

Node::Across::Across(NodeArena& arena, Transport& all)
    : lanes(all.topology().lanes()), lane(lane_of(all)), all_reduce(arena, lane.get(), lanes) {
  if (lane) programs.emplace(lane->rank(), lane->topology());
}

Node::Node(std::unique_ptr<NodeArena> arena, Transport& all)
    : arena_(std::move(arena)),
      arrival_(*arena_, all.topology().ranks_of(all.topology().node_of(all.rank()))),
      exchange_(*arena_, arrival_) {
  if (all.topology().nodes() > 1) across_ = std::make_unique<Across>(*arena_, all);
}

const collectives::Program* Node::lane_program(const collectives::Algorithm& algorithm) {
  if (!across_->programs) return nullptr;
  bool is_new = false;
  return &across_->programs->get(algorithm, 0, false, is_new);
}

}  // namespace rondo::engine
