#include "collectives/canonical.hpp"

#include <bit>
#include <cassert>
#include <map>
#include <vector>

namespace rondo::collectives {

namespace {

Expressions::Id combine(Expressions& expressions, Expressions::Id left, Expressions::Id right) {
  const auto sum = expressions.combine(left, right);
  assert(sum);
  return *sum;
}

/// What each node has, nodes in the order of their first rank.
std::vector<Expressions::Id> node_values(Expressions& expressions,
                                         const transport::Topology& topology, Rank origin) {
  std::vector<Expressions::Id> values;
  std::map<int, std::size_t> place_of_node;
  for (int i = 0; i < topology.size(); ++i) {
    const Rank rank = (origin + i) % topology.size();
    const auto [place, is_new] = place_of_node.try_emplace(topology.node_of(rank), values.size());
    if (is_new)
      values.push_back(expressions.leaf(rank));
    else
      values[place->second] = combine(expressions, values[place->second], expressions.leaf(rank));
  }
  return values;
}

/// Combines the first `pairs` pairs of neighbours, and leaves the rest as it is.
std::vector<Expressions::Id> combine_pairs(Expressions& expressions,
                                           const std::vector<Expressions::Id>& values,
                                           std::size_t pairs) {
  std::vector<Expressions::Id> fewer;
  for (std::size_t i = 0; i < pairs; ++i)
    fewer.push_back(combine(expressions, values[2 * i], values[2 * i + 1]));
  fewer.insert(fewer.end(), values.begin() + static_cast<std::ptrdiff_t>(2 * pairs), values.end());
  return fewer;
}

}  // namespace

Expressions::Id canonical_value(Expressions& expressions, const transport::Topology& topology,
                                Rank origin) {
  std::vector<Expressions::Id> values = node_values(expressions, topology, origin);
  values = combine_pairs(expressions, values, values.size() - std::bit_floor(values.size()));
  while (values.size() > 1) values = combine_pairs(expressions, values, values.size() / 2);
  return values.front();
}

}  // namespace rondo::collectives
