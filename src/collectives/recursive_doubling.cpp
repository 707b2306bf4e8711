#include <numeric>
#include <vector>

#include "collectives/algorithms.hpp"
#include "collectives/team.hpp"

namespace rondo::collectives {

/// Recursive doubling for any size (Thakur, Rabenseifner & Gropp, 2005).
///
///   rank r, step k:  exchange everything with rank r xor 2^k, and reduce
///
/// Between powers of two, n = 2^p + r, the first 2r ranks pair up before and after (see Team).
/// Steps p, or p + 2; each rank sends p·M, those with an extra partner (p+1)·M, the extra ones M.
/// For small messages: the fewest steps.
Plan recursive_doubling_allreduce(const Group& group) {
  std::vector<Rank> everyone(static_cast<std::size_t>(group.size));
  std::iota(everyone.begin(), everyone.end(), 0);
  Plan plan(group.rank, group.size, 1);
  Team team(plan, everyone, {0, 1});
  team.fold_in();
  team.double_up();
  team.fold_out();
  plan.complete(0, 1);
  return plan;
}

}  // namespace rondo::collectives
