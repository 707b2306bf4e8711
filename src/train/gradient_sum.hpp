#pragma once

#include <cstddef>
#include <cstdint>

#include <rondo/buffer.hpp>
#include <rondo/train/tensor.hpp>

namespace rondo::train {

/// The sum of one parameter's gradients over several micro-batches, in the accumulator type. Memory
/// is taken where the first one lies, and kept; all lie in one place, those of 16 bits on the host.
class GradientSum {
 public:
  bool empty() const { return empty_; }
  /// Every gradient has the same type and count.
  void add(Compute& place, ConstBuffer gradient);
  /// Adds `gradient` as the last one, writes the sum to it, rounded once, and is empty again.
  void add_to(Compute& place, Buffer gradient);
  /// Writes the sum to `gradient`, rounded once, and is empty again.
  void move_to(Compute& place, Buffer gradient);

 private:
  std::byte* data() { return reinterpret_cast<std::byte*>(sum_.data()); }

  Tensor<std::uint32_t> sum_;
  bool empty_ = true;
};

}  // namespace rondo::train
