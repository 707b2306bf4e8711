#pragma once

#include <cstddef>
#include <span>

#include <rondo/train/tensor.hpp>

namespace rondo::train {

/// The first `count` elements of memory that is kept from step to step and grows when it is too
/// small; what it held is then lost.
template <class T>
std::span<T> grown(Tensor<T>& memory, std::size_t count) {
  if (memory.size() < count) memory = Tensor<T>({count});
  return memory.span().first(count);
}

}  // namespace rondo::train
