#include "collectives/algorithms.hpp"

namespace rondo::collectives {

/// All-to-all in which each pair of ranks exchanges once.
///
///   rank r, k = 1 … n-1:  send input block r+k  →  r+k      receive output block r-k  ←  r-k
///
/// Input block p and output block p are different things here, so the steps name their memory.
/// One step of n-1 messages; each rank sends (n-1)/n of its input, the least possible.
Plan pairwise_all_to_all(const Group& group) {
  const int size = group.size;
  const Rank rank = group.rank;
  Plan plan(rank, size, size);
  plan.copy_input(rank);
  for (int k = 1; k < size; ++k) {
    const Rank to = (rank + k) % size;
    const Rank from = (rank - k + size) % size;
    plan.add({.kind = StepKind::send,
              .value = Value::finished,
              .peer = to,
              .source = {Space::input, to, 1}});
    plan.add({.kind = StepKind::receive,
              .value = Value::finished,
              .peer = from,
              .target = {Space::output, from, 1}});
  }
  return plan;
}

}  // namespace rondo::collectives
