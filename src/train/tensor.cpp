#include <rondo/train/tensor.hpp>

#include <limits>
#include <utility>

#include <rondo/error.hpp>

#include "train/each.hpp"
#include "train/functions/fill.hpp"

namespace rondo::train {

namespace {

std::size_t count_of(const std::vector<std::size_t>& shape) {
  std::size_t count = 1;
  for (const std::size_t extent : shape) {
    if (extent != 0 && count > std::numeric_limits<std::size_t>::max() / extent)
      throw Error(ErrorCode::usage, "a tensor's shape has more elements than memory can hold");
    count *= extent;
  }
  return count;
}

}  // namespace

template <class T>
Tensor<T>::Tensor() : shape_{0}, elements_(nullptr, Free{&Compute::host(), 0}) {}

template <class T>
Tensor<T>::Tensor(std::vector<std::size_t> shape, Compute& place)
    : shape_(std::move(shape)), size_(count_of(shape_)) {
  const std::size_t bytes = size_ * sizeof(T);
  elements_ = {static_cast<T*>(place.allocate(bytes)), Free{&place, bytes}};
  each(place, Fill<T>{T{0}}, size_, span());
}

template <class T>
Tensor<T> Tensor<T>::copy_to(Compute& place) const {
  if (!place.on_host() && !this->place().on_host() && &place != &this->place())
    return copy_to(Compute::host()).copy_to(place);  // which waits for both
  Tensor copy(shape_, place);
  Compute& either = place.on_host() ? this->place() : place;
  either.copy(copy.data(), data(), size_ * sizeof(T));
  return copy;
}

template <class T>
Tensor<T>::Tensor(const Tensor& other) : Tensor(other.copy_to(other.place())) {}

template <class T>
Tensor<T>::Tensor(Tensor&& other) noexcept
    : shape_(std::exchange(other.shape_, {0})),
      size_(std::exchange(other.size_, 0)),
      elements_(std::move(other.elements_)) {}

template <class T>
Tensor<T>& Tensor<T>::operator=(Tensor other) noexcept {
  swap(other);
  return *this;
}

template <class T>
void Tensor<T>::swap(Tensor& other) noexcept {
  std::swap(shape_, other.shape_);
  std::swap(size_, other.size_);
  std::swap(elements_, other.elements_);
}

template <class T>
ArrayView Tensor<T>::view(std::string name) {
  return {std::move(name), data_type_of<T>, shape_, data()};
}

template class Tensor<float>;
template class Tensor<double>;
template class Tensor<std::uint32_t>;
template class Tensor<std::uint64_t>;

}  // namespace rondo::train
