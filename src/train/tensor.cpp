#include <rondo/train/tensor.hpp>

#include <limits>

#include <rondo/error.hpp>

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
Tensor<T>::Tensor() : shape_{0} {}

template <class T>
Tensor<T>::Tensor(std::vector<std::size_t> shape)
    : shape_(std::move(shape)), elements_(count_of(shape_)) {}

template <class T>
ArrayView Tensor<T>::view(std::string name) {
  return {std::move(name), data_type_of<T>, shape_, data()};
}

template class Tensor<float>;
template class Tensor<double>;

}  // namespace rondo::train
