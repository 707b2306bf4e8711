#include <bit>
#include <vector>

#include "collectives/algorithms.hpp"

/// Two binary trees over the same ranks, each for one half of the message (Sanders, Speck & Träff,
/// 2009). A rank that has children in one tree is a leaf in the other, so each rank sends and
/// receives about as much as in a chain, at the depth of a tree; the segments flow.
///
///   first tree, 7 ranks        3              second tree: the same, every rank one to the
///                         ┌────┴────┐         left of its place in the first
///                         1         5
///                       ┌─┴─┐     ┌─┴─┐
///                       0   2     4   6
namespace rondo::collectives {

namespace {

constexpr int kTrees = 2;

/// One rank's place in one of the trees, over ranks [first, size).
///
/// Places count from 1 and the tree is in order: on the way up, a place with lowest bit b goes to
/// the middle of the 4b-1 places around, or, where that lies outside, b places to the left. Odd
/// places are leaves.
class TreePlace {
 public:
  TreePlace(Rank rank, Rank first, int size, int tree)
      : first_(first), count_(size - first), tree_(tree) {
    place_ = (rank - first + tree) % count_ + 1;
  }

  bool is_root() const { return place_ == root_place(); }
  Rank root() const { return rank_at(root_place()); }
  Rank parent() const { return rank_at(parent_place(place_)); }

  std::vector<Rank> children() const {
    std::vector<Rank> ranks;
    const int half = lowest_bit(place_) / 2;
    if (half == 0) return ranks;
    ranks.push_back(rank_at(place_ - half));
    for (int step = half; step > 0; step /= 2) {
      if (place_ + step > count_) continue;
      ranks.push_back(rank_at(place_ + step));
      break;
    }
    return ranks;
  }

 private:
  static int lowest_bit(int place) { return place & -place; }
  int root_place() const { return static_cast<int>(std::bit_floor(unsigned(count_))); }
  int parent_place(int place) const {
    const int bit = lowest_bit(place);
    const int middle = (place - bit) | (2 * bit);
    return middle <= count_ ? middle : place - bit;
  }
  Rank rank_at(int place) const { return first_ + (place - 1 - tree_ + count_) % count_; }

  Rank first_;
  int count_;
  int tree_;
  int place_;
};

int up_channel(int tree) { return 2 * tree; }
int down_channel(int tree) { return 2 * tree + 1; }

void reduce_up(Plan& plan, const TreePlace& place, int tree) {
  for (const Rank child : place.children())
    plan.receive({child, tree}, Action::reduce, up_channel(tree));
  if (!place.is_root()) plan.send({place.parent(), tree}, Action::reduce, up_channel(tree));
}

void broadcast_down(Plan& plan, const TreePlace& place, int tree) {
  if (!place.is_root()) plan.receive({place.parent(), tree}, Action::copy, down_channel(tree));
  for (const Rank child : place.children())
    plan.send({child, tree}, Action::copy, down_channel(tree));
}

}  // namespace

/// Up both trees and down again.
///
/// Steps 4·⌈log2 n⌉ at most; a rank sends one half per edge that it has in each tree: 2(1 - 1/n)·M
/// on average, 2M at most. For large messages on many ranks, where the ring has too many steps.
Plan double_binary_tree_allreduce(const Group& group) {
  Plan plan(group.rank, group.size, kTrees);
  for (int tree = 0; tree < kTrees; ++tree)
    reduce_up(plan, TreePlace(group.rank, 0, group.size, tree), tree);
  for (int tree = 0; tree < kTrees; ++tree)
    broadcast_down(plan, TreePlace(group.rank, 0, group.size, tree), tree);
  plan.complete(0, kTrees);
  return plan;
}

/// Up both trees, which stand on the ranks without the root; their tops send to it.
///
/// Steps 2·⌈log2 n⌉ at most; every rank but the root sends M: one half per tree.
Plan double_binary_tree_reduce(const Group& group) {
  Plan plan(group.rank, group.size, kTrees);
  for (int tree = 0; tree < kTrees && group.size > 1; ++tree) {
    const TreePlace place(group.rank, 1, group.size, tree);
    if (group.rank == 0)
      plan.receive({place.root(), tree}, Action::reduce, up_channel(tree));
    else
      reduce_up(plan, place, tree);
    if (group.rank > 0 && place.is_root()) plan.send({0, tree}, Action::reduce, up_channel(tree));
  }
  if (group.rank == 0) plan.complete(0, kTrees);
  return plan;
}

/// From the root to the tops of both trees, which stand on the other ranks, and down.
///
/// Steps 2·⌈log2 n⌉ at most; the root sends M, each other rank one half per child: M on average.
Plan double_binary_tree_broadcast(const Group& group) {
  Plan plan(group.rank, group.size, kTrees);
  for (int tree = 0; tree < kTrees && group.size > 1; ++tree) {
    const TreePlace place(group.rank, 1, group.size, tree);
    if (group.rank == 0) {
      plan.send({place.root(), tree}, Action::copy, down_channel(tree));
      continue;
    }
    if (place.is_root()) plan.receive({0, tree}, Action::copy, down_channel(tree));
    broadcast_down(plan, place, tree);
  }
  if (group.rank == 0) plan.copy_input(0, kTrees);
  return plan;
}

}  // namespace rondo::collectives
