#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "collectives/registry.hpp"

namespace rondo::collectives {

/// What the choice of an algorithm depends on; alike on all ranks.
struct Request {
  Collective collective = Collective::allreduce;
  int ranks = 1;
  int nodes = 1;
  std::size_t bytes = 0;      // of the whole message: for all-gather and the like, of all blocks
  bool piggyback = false;     // data may ride on the agreement's messages (Path::piggyback)
  bool node = false;          // all ranks reach each other's memory (Path::node)
  bool hierarchical = false;  // those of a node do, and there are several nodes
  bool deterministic = false;
  std::string_view per_call;          // Options::algorithm; must exist for the collective
  std::string_view from_environment;  // RONDO_ALGORITHM; used where the collective has it
  std::size_t segment_bytes = 0;      // 0: ours to choose
};

struct Choice {
  const Algorithm* algorithm = nullptr;
  std::size_t segment_bytes = 0;
  std::string_view reason;
};

/// Picks the algorithm of one call: the caller's word first, then RONDO_ALGORITHM, then shared
/// memory where there is some, else fixed constants. A pure function: nothing is probed or timed.
/// Throws Error(usage) for a name that the collective doesn't have, or that can't serve here.
Choice select(const Request& request);

/// Throws Error(usage) if no collective has an algorithm of this name (empty: fine). `source`
/// is who named it, for the message.
void check_algorithm_name(std::string_view name, std::string_view source);

}  // namespace rondo::collectives
