#pragma once

#include <cstddef>
#include <span>

#include <rondo/buffer.hpp>
#include <rondo/train/compute.hpp>

namespace rondo::train {

/// The norm of several arrays whose value doesn't depend on where their parts lie: squares are
/// added up in float64 within blocks of kNormBlock elements of one array, from its first element
/// on, and then block by block, array after array in order of registration. Within a block, element
/// e goes to partial sum e % kNormLanes; those are added in order. So any instruction set, bucket
/// layout and sharding gives the same bits, if each shard begins where a block does.
inline constexpr std::size_t kNormBlock = 1024;
inline constexpr std::size_t kNormLanes = 8;

/// Blocks of an array of `count` elements; the last may be shorter.
inline constexpr std::size_t norm_blocks(std::size_t count) {
  return (count + kNormBlock - 1) / kNormBlock;
}

/// Writes the sum of squares of each block of `elements`, which begin with a block and are of a
/// floating type: norm_blocks(elements.count) of them.
void block_squares(ConstBuffer elements, double* sums);

/// The root of the sum of all blocks' sums, in order.
double norm_of(std::span<const double> block_sums);

/// What gradients are multiplied by so that their norm is at most `limit`: limit / (norm + 1e-6),
/// and at most 1, as torch.nn.utils.clip_grad_norm_ has it. NaN if the norm is NaN.
double clip_factor(double norm, double limit);

/// Multiplies in the accumulator type. `data` is of a floating type, and lies in `place`.
void multiply_by(Compute& place, Buffer data, double factor);

}  // namespace rondo::train
