#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "collectives/placement.hpp"
#include "collectives/registry.hpp"
#include "collectives/tuning.hpp"

namespace rondo::collectives {

/// What the choice of an algorithm depends on; alike on all ranks.
struct Request {
  Collective collective = Collective::allreduce;
  int ranks = 1;
  int nodes = 1;
  std::size_t bytes = 0;        // of the whole message: for all-gather and the like, of all blocks
  bool piggyback = false;       // data may ride on the agreement's messages (Path::piggyback)
  bool node = false;            // all ranks reach each other's memory (Path::node)
  bool hierarchical = false;    // those of a node do, and there are several nodes
  bool vendor = false;          // the transport has collectives of its own (Path::vendor)
  bool vendor_allowed = false;  // RONDO_VENDOR: they may be chosen without being asked for
  bool group = false;           // the devices have collectives of their own (Path::group)
  bool peers = false;           // devices may reach the memory of all ranks (Path::peers)
  bool deterministic = false;
  DataType type = DataType::float32;
  ReduceOp op = ReduceOp::sum;
  bool scaled = false;                  // inputs are multiplied by something
  bool narrow = false;                  // partial values of 16-bit types stay in their type
  bool uneven = false;                  // blocks have different sizes
  std::string_view per_call;            // Options::algorithm; must exist for the collective
  std::string_view from_environment;    // RONDO_ALGORITHM; used where the collective has it
  std::size_t segment_bytes = 0;        // 0: ours to choose
  const TuningTable* tuning = nullptr;  // what was measured at this placement, if anything was
};

/// What of a request follows from where the ranks lie.
Request request_at(const Placement& placement);

/// Who chose.
enum class Source : std::uint8_t { user, tuning_file, constants };

struct Choice {
  const Algorithm* algorithm = nullptr;
  std::size_t segment_bytes = 0;
  Source source = Source::constants;
  std::string_view reason;
};

/// Picks the algorithm of one call: the caller's word first, then RONDO_ALGORITHM, then what was
/// measured, then shared memory where there is some, else fixed constants. A pure function: nothing
/// is probed or timed. Throws Error(usage) for a name that the collective doesn't have, or that
/// can't serve here.
Choice select(const Request& request);

/// Whether an algorithm can do what is asked for, in the mode that is asked for.
bool can_serve(const Algorithm& algorithm, const Request& request);

/// Whether an algorithm's messages are cut into segments whose size can be chosen.
inline bool has_segments(const Algorithm& algorithm) { return algorithm.path == Path::network; }

/// Throws Error(usage) if no collective has an algorithm of this name (empty: fine). `source`
/// is who named it, for the message.
void check_algorithm_name(std::string_view name, std::string_view source);

}  // namespace rondo::collectives
