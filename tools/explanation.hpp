#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "collectives/selector.hpp"
#include "core/settings.hpp"

namespace rondo::tools {

/// Sizes that are all served alike.
struct Explained {
  collectives::Collective collective;
  std::size_t from_bytes;
  std::size_t to_bytes;
  std::string path;
  std::string algorithm;      // empty if the call would be refused
  std::size_t segment_bytes;  // 0: no segments
  std::string why;
};

struct Explanation {
  collectives::Placement placement;
  bool tuned;  // the tuning file knows the placement
  std::vector<Explained> rows;
};

/// What the selector would choose for each collective from 8 B to 64 MiB, and why; `tuning` may be
/// null.
Explanation explain(const collectives::Placement& placement, const core::Settings& settings,
                    const collectives::TuningTable* tuning);

std::string as_text(const Explanation& explanation);
std::string as_json(const Explanation& explanation);

}  // namespace rondo::tools
