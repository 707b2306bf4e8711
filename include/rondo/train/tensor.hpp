#pragma once

#include <cstddef>
#include <new>
#include <span>
#include <string>
#include <vector>

#include <rondo/train/array.hpp>

namespace rondo::train {

namespace detail {
/// Gives memory at 64-byte boundaries, so that no element vector straddles two cache lines.
template <class T>
struct AlignedAllocator {
  using value_type = T;
  static constexpr std::align_val_t kAlignment{64};

  AlignedAllocator() = default;
  template <class U>
  AlignedAllocator(const AlignedAllocator<U>&) {}

  T* allocate(std::size_t count) {
    return static_cast<T*>(::operator new(count * sizeof(T), kAlignment));
  }
  void deallocate(T* memory, std::size_t) { ::operator delete(memory, kAlignment); }

  friend bool operator==(const AlignedAllocator&, const AlignedAllocator&) { return true; }
};
}  // namespace detail

/// An owning, row-major, 64-byte aligned array of any number of dimensions; T is float or double.
/// A value: copies are deep; a moved tensor keeps its memory, so spans of it stay valid. Like a
/// standard container: several threads may read, one may write.
template <class T>
class Tensor {
 public:
  /// No elements: shape {0}.
  Tensor();
  /// Zeros. An empty shape is a scalar (one element). Throws Error(usage) when the product of the
  /// extents does not fit std::size_t.
  explicit Tensor(std::vector<std::size_t> shape);

  const std::vector<std::size_t>& shape() const { return shape_; }
  /// Number of elements.
  std::size_t size() const { return elements_.size(); }
  T* data() { return elements_.data(); }
  const T* data() const { return elements_.data(); }
  std::span<T> span() { return elements_; }
  std::span<const T> span() const { return elements_; }
  T& operator[](std::size_t i) { return elements_[i]; }
  const T& operator[](std::size_t i) const { return elements_[i]; }

  /// This tensor as checkpoints see it. Valid as long as the tensor has its memory.
  ArrayView view(std::string name);

 private:
  std::vector<std::size_t> shape_;
  std::vector<T, detail::AlignedAllocator<T>> elements_;
};

extern template class Tensor<float>;
extern template class Tensor<double>;

}  // namespace rondo::train
