#include "collectives/algorithms.hpp"

/// One after another: the segments of a large message flow through all ranks at once.
///
///   broadcast:  0 → 1 → 2 → 3          reduce:  0 ← 1 ← 2 ← 3
namespace rondo::collectives {

/// Steps n-1; every rank but the root sends M. With s segments the time is that of s+n-2 segments:
/// for large messages and few ranks, where nothing beats sending the message once.
Plan chain_reduce(const Group& group) {
  Plan plan(group.rank, group.size, 1);
  if (group.rank + 1 < group.size) plan.receive({group.rank + 1, 0}, Action::reduce);
  if (group.rank > 0)
    plan.send({group.rank - 1, 0}, Action::reduce);
  else
    plan.complete(0, 1);
  return plan;
}

/// Steps n-1; every rank but the last sends M. With s segments the time is that of s+n-2 segments.
Plan chain_broadcast(const Group& group) {
  Plan plan(group.rank, group.size, 1);
  if (group.rank > 0) plan.receive({group.rank - 1, 0}, Action::copy);
  if (group.rank + 1 < group.size) plan.send({group.rank + 1, 0}, Action::copy);
  if (group.rank == 0) plan.copy_input(0);
  return plan;
}

}  // namespace rondo::collectives
