#pragma once

#include <cstdint>
#include <string_view>

namespace rondo::collectives {

enum class Collective : std::uint8_t {
  allreduce,
  reduce,
  broadcast,
  reduce_scatter,
  allgather,
  all_to_all,
  gather,
  scatter,
  barrier,
  split,
  send_receive,
};
inline constexpr int kCollectives = 11;

/// "allreduce", "reduce", …
std::string_view name_of(Collective collective);

/// allreduce, reduce, reduce_scatter.
bool reduces(Collective collective);

/// reduce, broadcast, gather, scatter.
bool has_root(Collective collective);

/// All but barrier and split.
bool moves_data(Collective collective);

}  // namespace rondo::collectives
