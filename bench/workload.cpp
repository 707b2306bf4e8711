#include "workload.hpp"

#include <fmt/core.h>

#include <rondo/error.hpp>

namespace rondo::bench {

namespace {

bool has_blocks(Collective collective) {
  return collective == Collective::reduce_scatter || collective == Collective::allgather;
}

}  // namespace

std::size_t smallest_bytes(Collective collective, DataType type, int ranks) {
  return size_of(type) * (has_blocks(collective) ? static_cast<std::size_t>(ranks) : 1);
}

std::size_t count_for(Collective collective, DataType type, std::size_t bytes, int ranks) {
  if (collective == Collective::barrier) return 0;
  const std::size_t count = bytes / size_of(type);
  const std::size_t blocks = has_blocks(collective) ? static_cast<std::size_t>(ranks) : 1;
  if (count >= blocks) return count / blocks * blocks;
  throw Error(ErrorCode::usage,
              fmt::format("--min: {} bytes are too few; {} of {} on {} ranks needs {} at least",
                          bytes, name_of(collective), name_of(type), ranks,
                          smallest_bytes(collective, type, ranks)));
}

std::size_t Workload::input_count() const {
  switch (collective) {
    case Collective::barrier:
    case Collective::broadcast:
      return 0;
    case Collective::allgather:
      return block();
    default:
      return count;
  }
}

std::size_t Workload::output_count() const {
  switch (collective) {
    case Collective::barrier:
      return 0;
    case Collective::reduce:
      return rank == kRoot ? count : 0;
    case Collective::reduce_scatter:
      return block();
    default:
      return count;
  }
}

std::size_t Workload::nested_at() const {
  return has_blocks(collective) ? static_cast<std::size_t>(rank) * block() : 0;
}

double Workload::bus_factor() const {
  const double others = static_cast<double>(ranks - 1) / ranks;
  switch (collective) {
    case Collective::allreduce:
      return 2 * others;
    case Collective::reduce_scatter:
    case Collective::allgather:
      return others;
    default:
      return 1.0;
  }
}

}  // namespace rondo::bench
