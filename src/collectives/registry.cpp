#include "collectives/registry.hpp"

#include <algorithm>
#include <array>
#include <string>

#include <fmt/core.h>
#include <rondo/error.hpp>

#include "collectives/algorithms.hpp"

namespace rondo::collectives {

namespace {

int one_block(const Group&) { return 1; }
int block_per_rank(const Group& group) { return group.size; }

using enum Collective;
constexpr std::array kAlgorithms{
    Algorithm{"ring", allreduce, ring_allreduce, block_per_rank},
    Algorithm{"binomial_tree", broadcast, binomial_broadcast, one_block},
    Algorithm{"ring", reduce_scatter, ring_reduce_scatter, block_per_rank},
    Algorithm{"ring", allgather, ring_allgather, block_per_rank},
};

}  // namespace

std::span<const Algorithm> algorithms() { return kAlgorithms; }

const Algorithm& find_algorithm(Collective collective, std::string_view name) {
  std::string known;
  for (const Algorithm& algorithm : kAlgorithms) {
    if (algorithm.collective != collective) continue;
    if (algorithm.name == name) return algorithm;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", algorithm.name);
  }
  throw Error(ErrorCode::usage,
              fmt::format("{} has no algorithm \"{}\"; it has: {}", name_of(collective), name,
                          known.empty() ? "none to choose from" : known));
}

}  // namespace rondo::collectives
