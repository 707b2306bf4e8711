#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <rondo/types.hpp>

namespace rondo::collectives {

/// What a value is made of: a tree of reductions whose leaves are ranks' contributions. Equal trees
/// have equal numbers. Every reduction gives the same bits with its operands exchanged, so a tree
/// is written with the lowest rank on the left.
class Expressions {
 public:
  using Id = int;

  explicit Expressions(int size) : size_(size) {}

  /// What `rank` contributes.
  Id leaf(Rank rank);
  /// left ⊕ right; nothing when a rank would be counted twice.
  std::optional<Id> combine(Id left, Id right);
  /// Whether every rank is in it.
  bool is_complete(Id id) const;
  /// "((0+1)+2)"
  std::string text(Id id) const;

 private:
  struct Node {
    Id left;  // -1 for a leaf
    Id right;
    Rank lowest;
    int count;
    std::vector<bool> ranks;
  };
  Id intern(Id left, Id right, Node node);
  const Node& node(Id id) const { return nodes_[static_cast<std::size_t>(id)]; }

  int size_;
  std::vector<Node> nodes_;
  std::map<std::pair<Id, Id>, Id> known_;
};

}  // namespace rondo::collectives
