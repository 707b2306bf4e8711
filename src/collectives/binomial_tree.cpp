#include "collectives/binomial_tree.hpp"
#include "collectives/algorithms.hpp"

namespace rondo::collectives {

namespace {

constexpr int kUp = 0;
constexpr int kDown = 1;

void reduce_to_root(Plan& plan, const BinomialTree& tree) {
  tree.for_each_child([&](Rank child) { plan.receive({child, 0}, Action::reduce, kUp); });
  if (!tree.is_root()) plan.send({tree.parent(), 0}, Action::reduce, kUp);
}

void broadcast_from_root(Plan& plan, const BinomialTree& tree) {
  if (!tree.is_root()) plan.receive({tree.parent(), 0}, Action::copy, kDown);
  tree.for_each_child_backwards([&](Rank child) { plan.send({child, 0}, Action::copy, kDown); });
}

/// Scratch for the blocks of this rank's subtree, in order.
void add_subtree_scratch(Plan& plan, const BinomialTree& tree) {
  for (int block = plan.rank(); block < tree.end(); ++block) plan.add_scratch(block);
}

}  // namespace

/// Up the tree and down again.
///
/// Steps 2·⌈log2 n⌉; a rank with c children sends (c+1)·M, the root c·M. In practice recursive
/// doubling is faster; this one sends the fewest messages in all, 2(n-1).
Plan binomial_tree_allreduce(const Group& group) {
  Plan plan(group.rank, group.size, 1);
  const BinomialTree tree(group.rank, group.size);
  reduce_to_root(plan, tree);
  broadcast_from_root(plan, tree);
  plan.complete(0, 1);
  return plan;
}

/// Up the tree. Steps ⌈log2 n⌉; every rank but the root sends M.
Plan binomial_tree_reduce(const Group& group) {
  Plan plan(group.rank, group.size, 1);
  const BinomialTree tree(group.rank, group.size);
  reduce_to_root(plan, tree);
  if (tree.is_root()) plan.complete(0, 1);
  return plan;
}

/// Down the tree. Steps ⌈log2 n⌉; a rank with c children sends c·M.
Plan binomial_tree_broadcast(const Group& group) {
  Plan plan(group.rank, group.size, 1);
  const BinomialTree tree(group.rank, group.size);
  broadcast_from_root(plan, tree);
  if (tree.is_root()) plan.copy_input(0);
  return plan;
}

/// Up the tree; each rank passes on the blocks of its whole subtree.
///
/// Steps ⌈log2 n⌉; a rank with s ranks in its subtree sends s blocks. For small blocks: the root
/// receives few messages.
Plan binomial_tree_gather(const Group& group) {
  Plan plan(group.rank, group.size, group.size);
  const BinomialTree tree(group.rank, group.size);
  const Rank rank = group.rank;
  if (tree.is_root()) {
    plan.copy_input(0);
    tree.for_each_child([&](Rank child) {
      plan.receive({child, child, tree.end_of(child) - child}, Action::copy);
    });
    return plan;
  }
  Place outgoing{Space::input, rank, 1};
  if (!tree.is_leaf()) {
    add_subtree_scratch(plan, tree);
    plan.add({.kind = StepKind::copy,
              .value = Value::finished,
              .source = outgoing,
              .target = {Space::scratch, 0, 1}});
    tree.for_each_child([&](Rank child) {
      plan.add({.kind = StepKind::receive,
                .value = Value::finished,
                .peer = child,
                .target = {Space::scratch, child - rank, tree.end_of(child) - child}});
    });
    outgoing = {Space::scratch, 0, tree.end() - rank};
  }
  plan.add({.kind = StepKind::send,
            .value = Value::finished,
            .peer = tree.parent(),
            .source = outgoing});
  return plan;
}

/// Down the tree; each rank keeps its own block and passes on those of its subtree.
///
/// Steps ⌈log2 n⌉; a rank sends the blocks of its children's subtrees. For small blocks: the root
/// sends few messages.
Plan binomial_tree_scatter(const Group& group) {
  Plan plan(group.rank, group.size, group.size);
  const BinomialTree tree(group.rank, group.size);
  const Rank rank = group.rank;
  const bool relays = !tree.is_root() && !tree.is_leaf();
  if (relays) {
    add_subtree_scratch(plan, tree);
    plan.add({.kind = StepKind::receive,
              .value = Value::finished,
              .peer = tree.parent(),
              .target = {Space::scratch, 0, tree.end() - rank}});
  } else if (tree.is_leaf() && !tree.is_root()) {
    plan.receive({tree.parent(), rank}, Action::copy);
  }
  const Space space = relays ? Space::scratch : Space::input;
  tree.for_each_child_backwards([&](Rank child) {
    plan.add({.kind = StepKind::send,
              .value = Value::finished,
              .peer = child,
              .source = {space, child - (relays ? rank : 0), tree.end_of(child) - child}});
  });
  if (tree.is_root()) plan.copy_input(0);
  if (relays)
    plan.add({.kind = StepKind::copy,
              .value = Value::finished,
              .source = {Space::scratch, 0, 1},
              .target = {Space::output, rank, 1}});
  return plan;
}

}  // namespace rondo::collectives
