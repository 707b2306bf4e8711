#include <numeric>
#include <vector>

#include "collectives/algorithms.hpp"
#include "collectives/team.hpp"

namespace rondo::collectives {

/// Reduce-scatter by recursive halving, then all-gather by recursive doubling, for any size
/// (Rabenseifner, 2004).
///
///   4 ranks, 4 blocks:          rank 0    rank 1    rank 2    rank 3
///   works on                    0 1 2 3   0 1 2 3   0 1 2 3   0 1 2 3
///   after halving at distance 1 0 1       2 3       0 1       2 3
///   after halving at distance 2 0         2         1         3
///   and back the same way, finished.
///
/// Between powers of two, n = 2^p + r, the first 2r ranks pair up before and after (see Team).
/// Steps 2p, or 2p + 2; each rank sends 2(1 - 1/2^p)·M, those with an extra partner M more, the
/// extra ones M. For medium and large messages: little more bytes than the ring, in few steps.
Plan halving_doubling_allreduce(const Group& group) {
  std::vector<Rank> everyone(static_cast<std::size_t>(group.size));
  std::iota(everyone.begin(), everyone.end(), 0);
  Plan plan(group.rank, group.size, Cores(group.size).count());
  Team team(plan, everyone, {0, plan.blocks()});
  team.fold_in();
  team.halve();
  team.collect();
  team.fold_out();
  plan.complete(0, plan.blocks());
  return plan;
}

}  // namespace rondo::collectives
