#include <numeric>
#include <vector>

#include "collectives/algorithms.hpp"
#include "collectives/team.hpp"

namespace rondo::collectives {

namespace {

Plan exchange_everything(const Group& group, int width) {
  std::vector<Rank> everyone(static_cast<std::size_t>(group.size));
  std::iota(everyone.begin(), everyone.end(), 0);
  Plan plan(group.rank, group.size, 1);
  Team team(plan, everyone, {0, 1});
  team.fold_in();
  team.double_up(width);
  team.fold_out();
  plan.complete(0, 1);
  return plan;
}

}  // namespace

/// Recursive doubling for any size (Thakur, Rabenseifner & Gropp, 2005).
///
///   rank r, step k:  exchange everything with rank r xor 2^k, and reduce
///
/// Between powers of two, n = 2^p + r, the first 2r ranks pair up before and after (see Team).
/// Steps p, or p + 2; each rank sends p·M, those with an extra partner (p+1)·M, the extra ones M.
/// For small messages: the fewest steps.
Plan recursive_doubling_allreduce(const Group& group) { return exchange_everything(group, 1); }

/// Recursive multiplying by four (after Ruefenacht, Bull & Booth, 2017).
///
///   rank r, step k:  exchange everything with r xor 4^k, r xor 2·4^k and r xor 3·4^k, and reduce
///
/// The value is recursive doubling's. Half its steps: ⌈p/2⌉, or ⌈p/2⌉ + 2; but three messages a
/// step, so each rank sends 3⌊p/2⌋·M, and M more for odd p. For small messages on many ranks, where
/// the wire's latency is longer than what a message costs its sender.
Plan recursive_quadrupling_allreduce(const Group& group) { return exchange_everything(group, 2); }

}  // namespace rondo::collectives
