#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include <rondo/buffer.hpp>

namespace rondo::train {

/// The norm of a long vector whose value doesn't depend on where its parts lie: squares are added
/// up in float64 within blocks of kNormBlock elements of one flat sequence (all parameters in
/// registration order), and then block by block. Within a block, element e goes to partial sum
/// e % kNormLanes; those are added in order. So any instruction set, bucket layout and sharding
/// gives the same bits, if each shard begins at the beginning of a block.
inline constexpr std::size_t kNormBlock = 4096;
inline constexpr std::size_t kNormLanes = 8;

/// The sums of squares of the blocks of a range of the flat sequence that begins with a block.
class BlockSquares {
 public:
  /// The range's next elements, of a floating type; a block may go across several calls.
  void add(ConstBuffer elements);
  /// Ends the last block, which may be shorter; returns all blocks' sums, and begins anew.
  std::vector<double> take();

 private:
  template <class T>
  void add_elements(const T* elements, std::size_t count);
  template <class T>
  void add_lanes(const T* elements, std::size_t count);
  void end_block();

  std::vector<double> sums_;
  std::array<double, kNormLanes> lanes_{};
  std::size_t filled_ = 0;  // elements of the open block
};

/// The root of the sum of all blocks' sums, in order.
double norm_of(std::span<const double> block_sums);

/// What gradients are multiplied by so that their norm is at most `limit`: limit / (norm + 1e-6),
/// and at most 1, as torch.nn.utils.clip_grad_norm_ has it. NaN if the norm is NaN.
double clip_factor(double norm, double limit);

/// Multiplies in the accumulator type. `data` is of a floating type.
void multiply_by(Buffer data, double factor);

}  // namespace rondo::train
