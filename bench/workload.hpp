#pragma once

#include <cstddef>
#include <string>

#include <rondo/types.hpp>

#include "collectives/collective.hpp"

namespace rondo::bench {

using collectives::Collective;

/// One collective call, as one rank makes it.
struct Workload {
  Collective collective = Collective::allreduce;
  DataType type = DataType::float32;
  ReduceOp op = ReduceOp::sum;
  std::size_t count = 0;  // elements of the whole message: of all ranks' blocks together
  bool in_place = false;
  int ranks = 1;
  Rank rank = 0;

  static constexpr Rank kRoot = 0;

  std::size_t bytes() const { return count * size_of(type); }
  std::size_t block() const { return count / static_cast<std::size_t>(ranks); }

  /// Elements of this rank's input and output.
  std::size_t input_count() const;
  std::size_t output_count() const;
  /// Where the smaller of the two lies in the larger one, in elements, when the call is in place.
  std::size_t nested_at() const;

  /// What algbw is multiplied with to get busbw: what the busiest link carries, as NVIDIA's
  /// nccl-tests define it.
  double bus_factor() const;
};

/// A message with one element, or one for each rank where the collective has blocks.
std::size_t smallest_bytes(Collective collective, DataType type, int ranks);

/// Elements of a message of at most `bytes`: every rank has a block of the same size where the
/// collective has blocks. Throws Error(usage) where that leaves none.
std::size_t count_for(Collective collective, DataType type, std::size_t bytes, int ranks);

}  // namespace rondo::bench
