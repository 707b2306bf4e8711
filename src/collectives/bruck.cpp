#include <algorithm>

#include "collectives/algorithms.hpp"

namespace rondo::collectives {

namespace {

/// Calls visit(first, count) for `count` blocks from `first` on, which go round at `size`: once, or
/// twice where they wrap.
template <class Visit>
void for_each_run(int first, int count, int size, Visit visit) {
  first %= size;
  const int before_the_end = std::min(count, size - first);
  visit(first, before_the_end);
  if (before_the_end < count) visit(0, count - before_the_end);
}

}  // namespace

/// All-gather in the fewest steps for any size (Bruck, Ho, Kipnis, Upfal & Weathersby, 1997); here
/// every block goes to its place at once, so that nothing is rotated afterwards.
///
///   rank r, step k:  send all that it has, r … r+2^k-1  →  r-2^k      receive as much  ←  r+2^k
///
/// Steps ⌈log2 n⌉; blocks that go round the end are a message of their own. Each rank sends (n-1)/n
/// of the result, the least possible. For small blocks.
Plan bruck_allgather(const Group& group) {
  const int size = group.size;
  const Rank rank = group.rank;
  Plan plan(rank, size, size);
  plan.copy_input(rank);
  for (int distance = 1; distance < size; distance *= 2) {
    const int count = std::min(distance, size - distance);
    for_each_run(rank, count, size, [&](int first, int blocks) {
      plan.send({(rank - distance + size) % size, first, blocks}, Action::copy);
    });
    for_each_run(rank + distance, count, size, [&](int first, int blocks) {
      plan.receive({(rank + distance) % size, first, blocks}, Action::copy);
    });
  }
  return plan;
}

}  // namespace rondo::collectives
