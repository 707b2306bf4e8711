#include "collectives/collective.hpp"

#include <array>
#include <cstddef>

namespace rondo::collectives {

namespace {
constexpr std::array<std::string_view, kCollectives> kNames{
    "allreduce", "reduce",  "broadcast", "reduce_scatter", "allgather",   "all_to_all",
    "gather",    "scatter", "barrier",   "split",          "send_receive"};
}  // namespace

using enum Collective;

std::string_view name_of(Collective collective) {
  return kNames[static_cast<std::size_t>(collective)];
}

bool reduces(Collective collective) {
  return collective == allreduce || collective == reduce || collective == reduce_scatter;
}

bool has_root(Collective collective) {
  return collective == reduce || collective == broadcast || collective == gather ||
         collective == scatter;
}

bool moves_data(Collective collective) { return collective != barrier && collective != split; }

}  // namespace rondo::collectives
