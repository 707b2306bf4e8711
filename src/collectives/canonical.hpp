#pragma once

#include "collectives/expressions.hpp"
#include "transport/topology.hpp"

namespace rondo::collectives {

/// The value of deterministic mode, written down from its definition and from nothing else: within
/// a node in rank order, from left to right; the nodes, sorted by lowest rank, by a butterfly. With
/// m = 2^p + r nodes the first 2r are combined in pairs, so that 2^p values are left; then
/// neighbours are combined until one is left. Ranks count from `origin` on.
Expressions::Id canonical_value(Expressions& expressions, const transport::Topology& topology,
                                Rank origin);

}  // namespace rondo::collectives
