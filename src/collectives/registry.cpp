#include "collectives/registry.hpp"

#include <algorithm>
#include <array>
#include <string>

#include <fmt/core.h>
#include <rondo/error.hpp>

#include "collectives/algorithms.hpp"
#include "collectives/team.hpp"

namespace rondo::collectives {

namespace {

int one_block(const Group&) { return 1; }
int two_blocks(const Group&) { return 2; }
int block_per_rank(const Group& group) { return group.size; }
int block_per_core(const Group& group) { return Cores(group.size).count(); }

/// Those that work within nodes combine in the canonical order.
constexpr Algorithm without_plan(std::string_view name, Collective collective, Path path) {
  const bool deterministic =
      path == Path::node || path == Path::hierarchical || path == Path::peers;
  return {name, collective, nullptr, nullptr, deterministic, path};
}

using enum Collective;
constexpr bool kDeterministic = true;

// clang-format off
constexpr std::array kAlgorithms{
    Algorithm{"ring", allreduce, ring_allreduce, block_per_rank},
    Algorithm{"recursive_doubling", allreduce, recursive_doubling_allreduce, one_block},
    Algorithm{"recursive_quadrupling", allreduce, recursive_quadrupling_allreduce, one_block},
    Algorithm{"halving_doubling", allreduce, halving_doubling_allreduce, block_per_core},
    Algorithm{"quartering_quadrupling", allreduce, quartering_quadrupling_allreduce, quartering_quadrupling_cores},
    Algorithm{"binomial_tree", allreduce, binomial_tree_allreduce, one_block},
    Algorithm{"double_binary_tree", allreduce, double_binary_tree_allreduce, two_blocks},
    Algorithm{"butterfly", allreduce, butterfly_allreduce, butterfly_blocks, kDeterministic},
    Algorithm{"butterfly_small", allreduce, butterfly_small_allreduce, one_block, kDeterministic},
    Algorithm{"binomial_tree", reduce, binomial_tree_reduce, one_block},
    Algorithm{"chain", reduce, chain_reduce, one_block},
    Algorithm{"double_binary_tree", reduce, double_binary_tree_reduce, two_blocks},
    Algorithm{"butterfly", reduce, butterfly_reduce, butterfly_blocks, kDeterministic},
    Algorithm{"butterfly_small", reduce, butterfly_small_reduce, one_block, kDeterministic},
    Algorithm{"binomial_tree", broadcast, binomial_tree_broadcast, one_block},
    Algorithm{"chain", broadcast, chain_broadcast, one_block},
    Algorithm{"double_binary_tree", broadcast, double_binary_tree_broadcast, two_blocks},
    Algorithm{"scatter_allgather", broadcast, scatter_allgather_broadcast, block_per_rank},
    Algorithm{"ring", reduce_scatter, ring_reduce_scatter, block_per_rank},
    Algorithm{"direct", reduce_scatter, direct_reduce_scatter, block_per_rank},
    Algorithm{"butterfly", reduce_scatter, butterfly_reduce_scatter, block_per_rank, kDeterministic},
    Algorithm{"butterfly_small", reduce_scatter, butterfly_small_reduce_scatter, block_per_rank, kDeterministic},
    Algorithm{"ring", allgather, ring_allgather, block_per_rank},
    Algorithm{"bruck", allgather, bruck_allgather, block_per_rank},
    Algorithm{"direct", allgather, direct_allgather, block_per_rank},
    Algorithm{"pairwise", all_to_all, pairwise_all_to_all, block_per_rank},
    Algorithm{"binomial_tree", gather, binomial_tree_gather, block_per_rank},
    Algorithm{"direct", gather, direct_gather, block_per_rank},
    Algorithm{"binomial_tree", scatter, binomial_tree_scatter, block_per_rank},
    Algorithm{"direct", scatter, direct_scatter, block_per_rank},
};

constexpr std::array kAlgorithmsWithoutPlan{
    without_plan("node", allreduce, Path::node),
    without_plan("node", reduce, Path::node),
    without_plan("node", broadcast, Path::node),
    without_plan("node", reduce_scatter, Path::node),
    without_plan("node", allgather, Path::node),
    without_plan("hierarchical", allreduce, Path::hierarchical),
    without_plan("piggyback", allreduce, Path::piggyback),
    without_plan("piggyback", reduce, Path::piggyback),
    without_plan("vendor", allreduce, Path::vendor),
    without_plan("vendor", reduce, Path::vendor),
    without_plan("vendor", broadcast, Path::vendor),
    without_plan("vendor", allgather, Path::vendor),
    without_plan("device_one_shot", allreduce, Path::peers),
    without_plan("device_two_shot", allreduce, Path::peers),
    without_plan("nccl", allreduce, Path::group),
    without_plan("nccl", reduce, Path::group),
    without_plan("nccl", broadcast, Path::group),
    without_plan("nccl", reduce_scatter, Path::group),
    without_plan("nccl", allgather, Path::group),
    without_plan("nccl", all_to_all, Path::group),
    without_plan("nccl", gather, Path::group),
    without_plan("nccl", scatter, Path::group),
};
// clang-format on

constexpr auto kAllAlgorithms = [] {
  std::array<Algorithm, kAlgorithms.size() + kAlgorithmsWithoutPlan.size()> all{};
  const auto end = std::copy(kAlgorithms.begin(), kAlgorithms.end(), all.begin());
  std::copy(kAlgorithmsWithoutPlan.begin(), kAlgorithmsWithoutPlan.end(), end);
  return all;
}();

}  // namespace

std::string_view name_of(Path path) {
  constexpr std::array<std::string_view, 7> kNames{"network", "piggyback", "node", "hierarchical",
                                                   "vendor",  "group",     "peers"};
  return kNames[static_cast<std::size_t>(path)];
}

std::span<const Algorithm> algorithms() { return kAlgorithms; }
std::span<const Algorithm> all_algorithms() { return kAllAlgorithms; }

const Algorithm& find_algorithm(Collective collective, std::string_view name) {
  for (const Algorithm& algorithm : kAllAlgorithms)
    if (algorithm.collective == collective && algorithm.name == name) return algorithm;
  std::string known;
  for (const Algorithm& algorithm : kAllAlgorithms)
    if (algorithm.collective == collective)
      known += fmt::format("{}{}", known.empty() ? "" : ", ", algorithm.name);
  throw Error(ErrorCode::usage,
              fmt::format("{} has no algorithm \"{}\"; it has: {}", name_of(collective), name,
                          known.empty() ? "none to choose from" : known));
}

}  // namespace rondo::collectives
