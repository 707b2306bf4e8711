#include "collectives/algorithms.hpp"

/// Every block goes straight to where it belongs. One step; ranks start with different peers, so
/// that they don't all send to the same one.
///
///   rank r, k = 1 … n-1:  send to r+k      receive from r-k
namespace rondo::collectives {

namespace {
Rank after(const Group& group, int distance) {
  return (group.rank + distance + group.size) % group.size;
}
}  // namespace

/// Each rank sends (n-1)/n of the message, the least possible, in n-1 messages.
Plan direct_reduce_scatter(const Group& group) {
  Plan plan(group.rank, group.size, group.size);
  for (int k = 1; k < group.size; ++k)
    plan.exchange({after(group, k), after(group, k)}, {after(group, -k), group.rank},
                  Action::reduce);
  plan.complete(group.rank, 1);
  return plan;
}

/// Each rank sends (n-1)/n of the result, the least possible, in n-1 messages.
Plan direct_allgather(const Group& group) {
  Plan plan(group.rank, group.size, group.size);
  plan.copy_input(group.rank);
  for (int k = 1; k < group.size; ++k)
    plan.exchange({after(group, k), group.rank}, {after(group, -k), after(group, -k)},
                  Action::copy);
  return plan;
}

/// Every rank but the root sends its block, the least possible; the root receives n-1 messages.
Plan direct_gather(const Group& group) {
  Plan plan(group.rank, group.size, group.size);
  if (group.rank > 0) {
    plan.send({0, group.rank}, Action::copy);
    return plan;
  }
  plan.copy_input(0);
  for (Rank peer = 1; peer < group.size; ++peer) plan.receive({peer, peer}, Action::copy);
  return plan;
}

/// The root sends each rank its block, the least possible, in n-1 messages.
Plan direct_scatter(const Group& group) {
  Plan plan(group.rank, group.size, group.size);
  if (group.rank > 0) {
    plan.receive({0, group.rank}, Action::copy);
    return plan;
  }
  for (Rank peer = 1; peer < group.size; ++peer) plan.send({peer, peer}, Action::copy);
  plan.copy_input(0);
  return plan;
}

}  // namespace rondo::collectives
