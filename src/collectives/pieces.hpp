#pragma once

#include <cstddef>
#include <vector>

#include "collectives/layout.hpp"
#include "collectives/plan.hpp"

namespace rondo::collectives {

/// Elements [begin, end) of one space of one rank.
struct Extent {
  Space space = Space::output;
  std::size_t begin = 0;
  std::size_t end = 0;

  std::size_t size() const { return end - begin; }
};

/// Part of a step, which runs as a whole.
struct Piece {
  int step;
  Extent source;  ///< empty when the step has none
  Extent target;
  std::vector<int> waits_for;  ///< earlier pieces of the same rank
};

/// How steps are cut into pieces.
struct Cutting {
  std::size_t segment = 0;  ///< elements of a piece, at most; 0: steps stay whole
  bool separate = false;    ///< input and output are never the same memory (all-to-all)
};

/// Where a rank's scratch blocks lie.
Layout scratch_layout(const Plan& plan, const Layout& layout);

/// Cuts a plan into pieces, in program order, by the executor's rules: a piece waits for every
/// earlier piece with which it conflicts (one of the two writes what the other reads or writes),
/// and for nothing else. Input and output count as the same memory unless they are separate. Steps
/// without elements have no pieces.
std::vector<Piece> cut(const Plan& plan, const Layout& layout, const Cutting& cutting);

}  // namespace rondo::collectives
