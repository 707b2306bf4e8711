#include <rondo/train/placed.hpp>

#include "train/memory.hpp"

namespace rondo::train {

template <class T>
std::span<const T> placed(Compute& place, std::span<const T> elements, Tensor<T>& memory) {
  if (place.on_host()) return elements;
  const std::span<T> copy = grown(place, memory, elements.size());
  place.copy(copy.data(), elements.data(), elements.size_bytes());
  return copy;
}

template <class T>
std::span<const T> fetched(Compute& place, std::span<const T> elements, Tensor<T>& memory) {
  if (place.on_host()) return elements;
  const std::span<T> copy = grown(Compute::host(), memory, elements.size());
  place.copy(copy.data(), elements.data(), elements.size_bytes());
  return copy;
}

#define RONDO_PLACED(T)                                                         \
  template std::span<const T> placed(Compute&, std::span<const T>, Tensor<T>&); \
  template std::span<const T> fetched(Compute&, std::span<const T>, Tensor<T>&);
RONDO_PLACED(float)
RONDO_PLACED(double)
RONDO_PLACED(std::uint32_t)
RONDO_PLACED(std::uint64_t)
#undef RONDO_PLACED

}  // namespace rondo::train
