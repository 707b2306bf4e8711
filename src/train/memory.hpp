#pragma once

#include <cstddef>
#include <span>

#include <rondo/train/tensor.hpp>

namespace rondo::train {

/// The first `count` elements of memory in `place` that is kept from step to step and grows when it
/// is too small; what it held is then lost.
template <class T>
std::span<T> grown(Compute& place, Tensor<T>& memory, std::size_t count) {
  if (memory.size() < count || &memory.place() != &place) memory = Tensor<T>({count}, place);
  return memory.span().first(count);
}

/// The same, of layers that compute on the host only.
template <class T>
std::span<T> grown(Tensor<T>& memory, std::size_t count) {
  return grown(Compute::host(), memory, count);
}

}  // namespace rondo::train
