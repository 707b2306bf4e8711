#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <rondo/train/array.hpp>
#include <rondo/train/compute.hpp>

namespace rondo::train {

/// An owning, row-major, 64-byte aligned array of any number of dimensions; T is float, double,
/// std::uint32_t or std::uint64_t. A value: copies are deep, and lie where the original does; a
/// moved tensor keeps its memory, so spans of it stay valid. Like a standard container: several
/// threads may read, one may write. Elements that don't lie on the host are reached through Compute
/// alone.
template <class T>
class Tensor {
 public:
  /// No elements: shape {0}.
  Tensor();
  /// Zeros. An empty shape is a scalar (one element). Throws Error(usage) when the product of the
  /// extents does not fit std::size_t.
  explicit Tensor(std::vector<std::size_t> shape, Compute& place = Compute::host());
  Tensor(const Tensor& other);
  Tensor(Tensor&& other) noexcept;
  Tensor& operator=(Tensor other) noexcept;

  /// The same elements in another place.
  Tensor copy_to(Compute& place) const;

  const std::vector<std::size_t>& shape() const { return shape_; }
  /// Number of elements.
  std::size_t size() const { return size_; }
  T* data() { return elements_.get(); }
  const T* data() const { return elements_.get(); }
  std::span<T> span() { return {data(), size_}; }
  std::span<const T> span() const { return {data(), size_}; }
  T& operator[](std::size_t i) { return elements_[i]; }
  const T& operator[](std::size_t i) const { return elements_[i]; }
  Compute& place() const { return *elements_.get_deleter().place; }

  /// This tensor as checkpoints see it. Valid as long as the tensor has its memory.
  ArrayView view(std::string name);

 private:
  struct Free {
    Compute* place;
    std::size_t bytes;
    void operator()(T* elements) const noexcept { place->free(elements, bytes); }
  };

  void swap(Tensor& other) noexcept;

  std::vector<std::size_t> shape_;
  std::size_t size_ = 0;
  std::unique_ptr<T[], Free> elements_;
};

extern template class Tensor<float>;
extern template class Tensor<double>;
extern template class Tensor<std::uint32_t>;
extern template class Tensor<std::uint64_t>;

}  // namespace rondo::train
