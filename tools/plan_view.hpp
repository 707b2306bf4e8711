#pragma once

#include <string>
#include <vector>

#include "collectives/registry.hpp"
#include "collectives/simulate.hpp"
#include "transport/topology.hpp"

namespace rondo::tools {

/// What rondo-plan shows: an algorithm at work among some ranks.
struct PlanView {
  const collectives::Algorithm& algorithm;
  const transport::Topology& topology;
  std::vector<collectives::Plan> plans;  ///< of all ranks
  /// All messages, where each takes one unit of time: [begin, end) is the step it belongs to.
  std::vector<collectives::Message> messages;

  PlanView(const collectives::Algorithm& shown, const transport::Topology& ranks);

  const collectives::Plan& plan(Rank rank) const { return plans[static_cast<std::size_t>(rank)]; }
  const collectives::Step& step(Rank rank, int index) const {
    return plan(rank).steps()[static_cast<std::size_t>(index)];
  }
  /// In how many steps all is done.
  int steps() const;
};

/// "all-reduce by ring, 4 ranks on 4 nodes, 4 blocks"
std::string title_of(const PlanView& view);

/// "3", "0–2" or "0–2, 5": the layout blocks of a place.
std::string label_of(const collectives::Plan& plan, const collectives::Place& place);

}  // namespace rondo::tools
