#include "collectives/algorithms.hpp"
#include "collectives/binomial_tree.hpp"

namespace rondo::collectives {

namespace {
constexpr int kScatter = 0;
constexpr int kRing = 1;
}  // namespace

/// Broadcast by a binomial-tree scatter and a ring all-gather (van de Geijn, 1994).
///
///   scatter: rank r gets blocks [r, end) of its subtree and passes its children theirs;
///   ring step k: send block r-k  →  r+1      receive block r-k-1  ←  r-1
///
/// A block that a rank has from the scatter is not sent to it again. Steps ⌈log2 n⌉ + n-1; each
/// rank sends less than 2M. For large messages.
Plan scatter_allgather_broadcast(const Group& group) {
  const int size = group.size;
  const Rank rank = group.rank;
  const Rank next = (rank + 1) % size;
  const Rank previous = (rank + size - 1) % size;
  const BinomialTree tree(rank, size);
  const auto has_from_scatter = [&](Rank who, int block) {
    return block >= who && block < tree.end_of(who);
  };

  Plan plan(rank, size, size);
  if (!tree.is_root())
    plan.receive({tree.parent(), rank, tree.end() - rank}, Action::copy, kScatter);
  tree.for_each_child_backwards([&](Rank child) {
    plan.send({child, child, tree.end_of(child) - child}, Action::copy, kScatter);
  });
  for (int step = 0; step < size - 1; ++step) {
    const int outgoing = (rank - step + size) % size;
    const int incoming = (rank - step - 1 + size) % size;
    if (!has_from_scatter(next, outgoing)) plan.send({next, outgoing}, Action::copy, kRing);
    if (!has_from_scatter(rank, incoming)) plan.receive({previous, incoming}, Action::copy, kRing);
  }
  if (tree.is_root()) plan.copy_input(0, size);
  return plan;
}

}  // namespace rondo::collectives
