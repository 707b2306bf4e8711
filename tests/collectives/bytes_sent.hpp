#pragma once

#include <bit>
#include <cstddef>
#include <functional>
#include <string>

#include "collectives/registry.hpp"

namespace rondo::collectives {

/// The column "bytes sent per rank" of docs/algorithms.md, as code: what a rank sends of a message
/// of M elements, at least and at most. M divides by everything in sight. The root is rank 0.
struct Sent {
  std::size_t least;
  std::size_t most;
  Sent(std::size_t exactly) : least(exactly), most(exactly) {}
  Sent(std::size_t least, std::size_t most) : least(least), most(most) {}
};

class BytesSent {
 public:
  BytesSent(const Group& group, std::size_t M) : group_(group), M(M) {}

  Sent operator()(Collective collective, const std::string& name) const {
    switch (collective) {
      case Collective::allreduce:
        return allreduce(name);
      case Collective::reduce:
        return reduce(name);
      case Collective::broadcast:
        return broadcast(name);
      case Collective::reduce_scatter:
        return reduce_scatter(name);
      case Collective::gather:
        if (name == "direct") return r() == 0 ? 0 : M / n();
        return r() == 0 ? 0 : subtree(r()) * M / n();
      case Collective::scatter:
        if (name == "direct") return r() == 0 ? (n() - 1) * M / n() : 0;
        return (subtree(r()) - 1) * M / n();
      default:  // all-gather, all-to-all: the least possible
        return (n() - 1) * M / n();
    }
  }

 private:
  Sent allreduce(const std::string& name) const {
    if (name == "ring") return 2 * (n() - 1) * M / n();
    if (name == "recursive_doubling") return extra() ? M : steps() * M + with_extra(M);
    if (name == "recursive_quadrupling")
      return extra() ? M : (steps() / 2 * 3 + steps() % 2) * M + with_extra(M);
    if (name == "quartering_quadrupling") {
      const std::size_t m = smooth();
      if (r() < 2 * (n() - m)) return r() % 2 == 1 ? M : 3 * M - 2 * M / m;
      return 2 * M - 2 * M / m;
    }
    if (name == "halving_doubling") return extra() ? M : 2 * (M - M / cores()) + with_extra(M);
    if (name == "binomial_tree") return children() * M + (r() == 0 ? 0 : M);
    if (name == "double_binary_tree") return tree_edges(0, 0) * M / 2 + tree_edges(0, 1) * M / 2;
    if (name == "butterfly_small") {
      if (lane() > 0) return M;
      return (node_size() - 1) * M + (extra() ? M : steps() * M + with_extra(M));
    }
    const std::size_t S = M / lanes();  // butterfly
    if (lane() >= lanes()) return M;
    return M - S + (node_size() - 1) * S + (extra() ? S : 2 * (S - S / cores()) + with_extra(S));
  }

  Sent reduce(const std::string& name) const {
    if (name == "butterfly_small") {
      if (lane() > 0) return M;
      return extra() ? M : steps() * M;
    }
    if (name != "butterfly") return r() == 0 ? 0 : M;
    const std::size_t S = M / lanes();
    if (lane() >= lanes()) return M;
    return r() == 0 ? M - S / cores() : M;
  }

  Sent broadcast(const std::string& name) const {
    if (name == "binomial_tree") return children() * M;
    if (name == "chain") return r() + 1 < n() ? M : 0;
    if (name == "scatter_allgather") {
      const std::size_t next = (r() + 1) % n();
      return (subtree(r()) - 1 + n() - subtree(next)) * M / n();
    }
    if (r() == 0) return n() == 1 ? 0 : M;  // double_binary_tree
    return tree_children(1, 0) * M / 2 + tree_children(1, 1) * M / 2;
  }

  Sent reduce_scatter(const std::string& name) const {
    if (name == "ring" || name == "direct") return (n() - 1) * M / n();
    if (name == "butterfly_small") {
      if (lane() > 0) return M;
      if (extra()) return M;
      const std::size_t served = node_size() - 1 + (has_extra() ? extra_node_size() : 0);
      return steps() * M + served * M / n();
    }
    return {M - M / n(), M};  // butterfly: all but, perhaps, its own block
  }

  /// The largest m ≤ n without a prime factor above 31.
  std::size_t smooth() const {
    for (std::size_t m = n();; --m) {
      std::size_t rest = m;
      for (const std::size_t prime : {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31})
        while (rest % prime == 0) rest /= prime;
      if (rest == 1) return m;
    }
  }

  std::size_t n() const { return static_cast<std::size_t>(group_.size); }
  std::size_t r() const { return static_cast<std::size_t>(group_.rank); }

  // The butterfly's members are the nodes, each with one rank where there is no topology.
  std::size_t members() const { return static_cast<std::size_t>(group_.topology->nodes()); }
  std::size_t member() const {
    return static_cast<std::size_t>(group_.topology->node_of(group_.rank));
  }
  std::size_t lanes() const { return static_cast<std::size_t>(group_.topology->lanes()); }
  std::size_t lane() const {
    return static_cast<std::size_t>(group_.topology->node_rank(group_.rank));
  }
  std::size_t node_size() const { return size_of_node(member()); }
  std::size_t extra_node_size() const { return size_of_node(member() + 1); }
  std::size_t size_of_node(std::size_t node) const {
    return group_.topology->ranks_of(static_cast<int>(node)).size();
  }
  std::size_t cores() const { return std::bit_floor(members()); }
  std::size_t steps() const { return static_cast<std::size_t>(std::bit_width(members())) - 1; }
  std::size_t extras() const { return members() - cores(); }
  bool extra() const { return member() < 2 * extras() && member() % 2 == 1; }
  bool has_extra() const { return member() < 2 * extras() && member() % 2 == 0; }
  std::size_t with_extra(std::size_t bytes) const { return has_extra() ? bytes : 0; }

  // The binomial tree.
  std::size_t subtree(std::size_t rank) const {
    return rank == 0 ? n() : std::min(rank & (~rank + 1), n() - rank);
  }
  std::size_t children() const {
    return static_cast<std::size_t>(std::bit_width(subtree(r()) - 1));
  }

  // The double binary tree, over the ranks from `first` on.
  std::size_t tree_children(std::size_t first, std::size_t tree) const {
    const std::size_t count = n() - first;
    return children_of((r() - first + tree) % count + 1, count);
  }
  std::size_t tree_edges(std::size_t first, std::size_t tree) const {
    const std::size_t count = n() - first;
    const bool is_top = (r() - first + tree) % count + 1 == std::bit_floor(count);
    return tree_children(first, tree) + (is_top ? 0 : 1);
  }
  /// In the in-order tree of places 1 … count the top is the largest power of two; what lies on its
  /// left is a full tree, what lies on its right such a tree again.
  static std::size_t children_of(std::size_t place, std::size_t count) {
    const std::size_t top = std::bit_floor(count);
    if (place == top) return (top > 1 ? 1 : 0) + (count > top ? 1 : 0);
    return place < top ? children_of(place, top - 1) : children_of(place - top, count - top);
  }

  Group group_;
  std::size_t M;
};

}  // namespace rondo::collectives
