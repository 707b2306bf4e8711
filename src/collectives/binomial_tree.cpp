#include "collectives/algorithms.hpp"

/// The binomial tree with root 0: a rank's parent is itself without its lowest set bit.
///
///   0 ─ 4 ─ 6 ─ 7
///   │   └ 5
///   ├ 2 ─ 3
///   └ 1
namespace rondo::collectives {

namespace {

/// Distance to the parent: the lowest set bit; for the root, the least power of two ≥ size.
int reach(Rank rank, int size) {
  int distance = 1;
  while (distance < size && (rank & distance) == 0) distance *= 2;
  return distance;
}

}  // namespace

/// Each rank receives once, and then sends to its children, the farthest first.
///
/// Steps ceil(log2 n); the root sends ceil(log2 n) times the message.
Plan binomial_broadcast(const Group& group) {
  Plan plan(group.rank, group.size, 1);
  const int distance = reach(group.rank, group.size);
  if (group.rank != 0) plan.receive({group.rank - distance, 0}, Action::copy);
  for (int step = distance / 2; step > 0; step /= 2)
    if (group.rank + step < group.size) plan.send({group.rank + step, 0}, Action::copy);
  return plan;
}

}  // namespace rondo::collectives
