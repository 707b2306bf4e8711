#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "collectives/layout.hpp"
#include "collectives/plan.hpp"
#include "collectives/registry.hpp"

namespace rondo::collectives {

/// How plans are run when they are verified.
struct Trial {
  std::size_t segment = 0;  ///< elements of a message, at most; 0: steps stay whole
  int window = 1;           ///< pieces of a stream in flight
  bool in_place = false;    ///< input and output are the same memory
  /// Demand the canonical value of deterministic mode for this topology, of which `origin` is the
  /// first rank.
  const transport::Topology* canonical = nullptr;
  Rank origin = 0;
};

/// Runs the plans of all ranks (plans[r] is rank r's) symbolically, as if every send were
/// synchronous, and returns what is wrong with them; nothing when
///  - messages match: per pair of ranks and channel, equally many, of the same blocks and kind;
///  - only what is defined is read, partial or finished as the step says, and no rank writes what
///    the collective doesn't let it write;
///  - every output block that the collective promises is finished exactly once, and holds each
///    rank's contribution exactly once (or the right rank's block, where nothing is reduced);
///  - all ranks compute the same expression, so that they hold the same bits;
///  - nobody waits for ever.
/// All-to-all needs blocks of one size.
std::optional<std::string> find_fault(const std::vector<Plan>& plans, Collective collective,
                                      const Layout& layout, const Trial& trial);

/// Elements that a rank sends.
std::size_t elements_sent(const Plan& plan, const Layout& layout);

}  // namespace rondo::collectives
