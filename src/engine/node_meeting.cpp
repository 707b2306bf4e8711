#include "engine/node_meeting.hpp"

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <rondo/error.hpp>

#include "core/log.hpp"

namespace rondo::engine {

using transport::NodeArena;
using transport::Topology;

NodeMeeting::NodeMeeting(const transport::Transport& all) : all_(all) {
  attempt([&] {
    arena_ = std::make_unique<NodeArena>();
    // Whether they can be had must be known to all ranks, and those of other nodes don't see it.
    if (all_.topology().nodes() > 1) arena_->claim_more();
    offer_ = arena_->offer();
  });
}

template <class Action>
void NodeMeeting::attempt(Action action) {
  try {
    action();
  } catch (const transport::DescriptorsRefused& error) {
    trouble_ = error.what();
    outcome_ = Outcome::refused;
  } catch (const Error& error) {
    trouble_ = error.what();
    outcome_ = Outcome::in_trouble;
  }
}

void NodeMeeting::join(std::span<const Offer> offers) {
  if (outcome_ != Outcome::fine) return;
  const bool all_offer =
      std::all_of(offers.begin(), offers.end(), [](const Offer& o) { return o.area.process != 0; });
  if (!all_offer) {
    outcome_ = Outcome::let_down;
    return;
  }
  const Topology& topology = all_.topology();
  std::vector<Offer> of_node;
  for (const Rank rank : topology.ranks_of(topology.node_of(all_.rank())))
    of_node.push_back(offers[static_cast<std::size_t>(rank)]);
  attempt([&] { arena_->join(of_node, topology.node_rank(all_.rank())); });
  if (all_.delay_seed() != 0)
    arena_->delay(all_.delay_seed() * 1000 + static_cast<std::uint64_t>(all_.rank()));
}

bool NodeMeeting::wants_names(std::span<const Outcome> outcomes) {
  return std::find(outcomes.begin(), outcomes.end(), Outcome::refused) != outcomes.end();
}

std::unique_ptr<NodeArena> NodeMeeting::conclude(std::span<const Outcome> outcomes, bool is_known) {
  const auto first = std::find_if(outcomes.begin(), outcomes.end(), [](Outcome outcome) {
    return outcome == Outcome::in_trouble || outcome == Outcome::refused;
  });
  if (first == outcomes.end()) {
    arena_->forget_name();
    return std::move(arena_);
  }
  if (first - outcomes.begin() == all_.rank() && !is_known) say_why_not();
  return nullptr;
}

/// Once, however many communicators a job makes.
void NodeMeeting::say_why_not() const {
  static std::atomic<bool> said = false;
  if (said.exchange(true)) return;
  core::log(core::LogLevel::warning,
            fmt::format("{}: the ranks of a node send messages instead, which is slower "
                        "(RONDO_SHM=off says so without this line)",
                        trouble_));
}

}  // namespace rondo::engine
