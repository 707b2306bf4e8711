#include "plan_view.hpp"

#include <cstddef>

#include <fmt/core.h>

namespace rondo::tools {

using collectives::Group;
using collectives::Place;
using collectives::Plan;

PlanView::PlanView(const collectives::Algorithm& shown, const transport::Topology& ranks)
    : algorithm(shown), topology(ranks) {
  for (Rank rank = 0; rank < ranks.size(); ++rank)
    plans.push_back(shown.plan(Group{rank, ranks.size(), &ranks}));
  // A byte for each block and no price for it: every message takes as long.
  const auto bytes = static_cast<std::size_t>(plans.front().blocks());
  messages = simulate(shown, ranks, {.bytes = bytes, .cost = {.alpha = 1}}).messages;
}

int PlanView::steps() const { return messages.empty() ? 0 : static_cast<int>(messages.back().end); }

std::string title_of(const PlanView& view) {
  const auto counted = [](int count, const char* what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
  };
  return fmt::format("{} by {}: {} on {}, {}", name_of(view.algorithm.collective),
                     view.algorithm.name, counted(view.topology.size(), "rank"),
                     counted(view.topology.nodes(), "node"),
                     counted(view.plans.front().blocks(), "block"));
}

std::string label_of(const Plan& plan, const Place& place) {
  const std::vector<int> blocks = plan.layout_blocks(place);
  std::string label;
  for (std::size_t begin = 0; begin < blocks.size();) {
    std::size_t end = begin + 1;
    while (end < blocks.size() && blocks[end] == blocks[end - 1] + 1) ++end;
    label += label.empty() ? "" : ", ";
    label += end - begin == 1 ? fmt::format("{}", blocks[begin])
                              : fmt::format("{}–{}", blocks[begin], blocks[end - 1]);
    begin = end;
  }
  return label;
}

}  // namespace rondo::tools
