#include "collectives/registry.hpp"

#include <algorithm>
#include <array>
#include <string>

#include <fmt/core.h>
#include <rondo/error.hpp>

#include "collectives/algorithms.hpp"

namespace rondo::collectives {

namespace {

int block_per_rank(const Group& group) { return group.size; }

constexpr std::array kNames{"allreduce",  "reduce", "broadcast", "reduce_scatter", "allgather",
                            "all_to_all", "gather", "scatter",   "barrier",        "send_receive"};

using enum Collective;
constexpr std::array kAlgorithms{
    Algorithm{"ring", allreduce, ring_allreduce, block_per_rank},
    Algorithm{"ring", reduce_scatter, ring_reduce_scatter, block_per_rank},
    Algorithm{"ring", allgather, ring_allgather, block_per_rank},
};

}  // namespace

std::string_view name_of(Collective collective) {
  return kNames[static_cast<std::size_t>(collective)];
}

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
