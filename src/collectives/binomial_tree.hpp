#pragma once

#include <algorithm>

#include <rondo/types.hpp>

namespace rondo::collectives {

/// The binomial tree with root 0: the parent of a rank is the rank without its lowest bit.
///
///             0
///        ┌────┼───┐
///        4    2   1         The ranks below r, and r itself, are consecutive: [r, end).
///       ┌┴┐   │
///       6 5   3
///       │
///       7
class BinomialTree {
 public:
  BinomialTree(Rank rank, int size) : rank_(rank), size_(size) {}

  bool is_root() const { return rank_ == 0; }
  Rank parent() const { return rank_ & (rank_ - 1); }
  /// One past the last rank of this rank's subtree.
  Rank end() const { return end_of(rank_); }
  Rank end_of(Rank rank) const {
    return rank == 0 ? size_ : std::min(size_, rank + (rank & -rank));
  }
  bool is_leaf() const { return end() == rank_ + 1; }

  /// Calls visit(child) for each child, the smallest subtree first.
  template <class Visit>
  void for_each_child(Visit visit) const {
    for (int distance = 1; rank_ + distance < end(); distance *= 2) visit(rank_ + distance);
  }
  /// The largest subtree first: it has the longest way to go.
  template <class Visit>
  void for_each_child_backwards(Visit visit) const {
    int distance = 1;
    while (rank_ + 2 * distance < end()) distance *= 2;
    for (; distance > 0 && !is_leaf(); distance /= 2) visit(rank_ + distance);
  }

 private:
  Rank rank_;
  int size_;
};

}  // namespace rondo::collectives
