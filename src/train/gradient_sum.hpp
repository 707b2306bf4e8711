#pragma once

#include <cstddef>
#include <vector>

#include <rondo/buffer.hpp>

namespace rondo::train {

/// The sum of one parameter's gradients over several micro-batches, in the accumulator type. Memory
/// is taken when the first one comes, and kept.
class GradientSum {
 public:
  bool empty() const { return empty_; }
  /// Every gradient has the same type and count.
  void add(ConstBuffer gradient);
  /// Adds `gradient` as the last one, writes the sum to it, rounded once, and is empty again.
  void add_to(Buffer gradient);
  /// Writes the sum to `gradient`, rounded once, and is empty again.
  void move_to(Buffer gradient);

 private:
  std::vector<std::byte> sum_;
  bool empty_ = true;
};

}  // namespace rondo::train
