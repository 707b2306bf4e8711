#include "transport/topology.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace rondo::transport {

Topology::Topology(std::vector<int> node_of)
    : node_of_(std::move(node_of)), node_rank_(node_of_.size()) {
  std::map<int, int> number;  // the caller's node → ours, in order of first appearance
  for (Rank rank = 0; rank < size(); ++rank) {
    const auto [entry, is_new] = number.try_emplace(node_of_[rank], nodes());
    if (is_new) ranks_of_.emplace_back();
    const int node = entry->second;
    node_of_[rank] = node;
    node_rank_[rank] = static_cast<int>(ranks_of_[node].size());
    ranks_of_[node].push_back(rank);
  }
}

Topology Topology::spread(int size) {
  std::vector<int> node_of(size);
  std::iota(node_of.begin(), node_of.end(), 0);
  return Topology(std::move(node_of));
}

Topology Topology::one_node(int size) { return Topology(std::vector<int>(size, 0)); }

int Topology::lanes() const {
  const auto fewer = [](const auto& a, const auto& b) { return a.size() < b.size(); };
  const auto smallest = std::min_element(ranks_of_.begin(), ranks_of_.end(), fewer);
  return smallest == ranks_of_.end() ? 0 : static_cast<int>(smallest->size());
}

}  // namespace rondo::transport
