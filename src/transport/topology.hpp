#pragma once

#include <vector>

#include <rondo/types.hpp>

namespace rondo::transport {

/// Which ranks share a node. Nodes are numbered by their lowest rank.
class Topology {
 public:
  /// `node_of[r]` is any number that ranks of one node share and others don't.
  explicit Topology(std::vector<int> node_of);
  /// Every rank on a node of its own / all on one.
  static Topology spread(int size);
  static Topology one_node(int size);

  int size() const { return static_cast<int>(node_of_.size()); }
  int nodes() const { return static_cast<int>(ranks_of_.size()); }
  int node_of(Rank rank) const { return node_of_[rank]; }
  /// The ranks of a node, ascending.
  const std::vector<Rank>& ranks_of(int node) const { return ranks_of_[node]; }
  /// Place of a rank among the ranks of its node.
  int node_rank(Rank rank) const { return node_rank_[rank]; }
  /// The smallest number of ranks on any node: how many can work across nodes side by side.
  int lanes() const;

 private:
  std::vector<int> node_of_;
  std::vector<int> node_rank_;
  std::vector<std::vector<Rank>> ranks_of_;
};

}  // namespace rondo::transport
