#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <rondo/buffer.hpp>
#include <rondo/types.hpp>

#include "collectives/collective.hpp"

namespace rondo::engine {

/// One collective call, type-erased. Buffers that this rank doesn't have in the collective are
/// empty.
struct Call {
  collectives::Collective collective;
  ConstBuffer input{};
  Buffer output{};
  ReduceOp op = ReduceOp::sum;
  Rank root = 0;
  /// Sizes of the blocks of input and of output where they aren't all alike (the …_v calls); else
  /// empty.
  std::span<const std::size_t> input_counts{};
  std::span<const std::size_t> output_counts{};
  double scale = 1.0;
  /// Digest of anything else that the ranks must agree on.
  std::uint64_t details = 0;
};

/// The type of the call's elements (that of the buffer which this rank has).
DataType type_of(const Call& call, Rank rank);

/// Elements of the whole message, of all ranks' blocks together; alike on all ranks.
std::size_t element_count(const Call& call, int size);

/// Throws Error(usage) saying which argument is wrong and what it must be.
void check(const Call& call, Rank rank, int size);

}  // namespace rondo::engine
