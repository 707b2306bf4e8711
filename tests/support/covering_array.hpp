#pragma once

#include <functional>
#include <vector>

namespace rondo::testing {

/// The value of each factor, in one test.
using Row = std::vector<int>;

/// Whether value `a` of factor `f` goes with value `b` of factor `g`; asked for f < g only.
using PairAllowed = std::function<bool(int f, int a, int g, int b)>;

/// Few rows in which any two factors take every allowed pair of values (Cohen, Dalal, Fredman &
/// Patton, "The AETG system", 1997, without its random numbers): most faults need no more than two
/// settings to show. `sizes[f]` is the number of values of factor f. A pair that can't be completed
/// to an allowed row is left out.
std::vector<Row> covering_array(const std::vector<int>& sizes, const PairAllowed& allowed);

}  // namespace rondo::testing
