#include <rondo/train/parameter.hpp>

#include <fmt/core.h>

#include <rondo/error.hpp>

namespace rondo::train {

template <class T>
Parameter<T>::Parameter(std::string name, std::vector<std::size_t> shape)
    : name_(std::move(name)),
      value_(shape),
      own_gradient_(std::move(shape)),
      gradient_(own_gradient_.span()) {}

template <class T>
void Parameter<T>::store_gradient_in(std::span<T> memory) {
  if (memory.size() != size())
    throw Error(ErrorCode::usage,
                fmt::format("parameter '{}' has {} elements; memory for its gradient has {}", name_,
                            size(), memory.size()));
  gradient_ = memory;
  own_gradient_ = {};
}

template <class T>
void Parameter<T>::move_to(Compute& place) {
  Compute& old = value_.place();
  if (&old == &place) return;
  value_ = value_.copy_to(place);
  Tensor<T> gradient(value_.shape(), old);
  old.copy(gradient.data(), gradient_.data(), gradient_.size_bytes());
  own_gradient_ = gradient.copy_to(place);
  gradient_ = own_gradient_.span();
}

template <class T>
std::vector<ArrayView> values_of(std::span<Parameter<T>* const> parameters) {
  std::vector<ArrayView> views;
  for (Parameter<T>* parameter : parameters)
    views.push_back(parameter->value().view(parameter->name()));
  return views;
}

template class Parameter<float>;
template class Parameter<double>;
template std::vector<ArrayView> values_of(std::span<Parameter<float>* const>);
template std::vector<ArrayView> values_of(std::span<Parameter<double>* const>);

}  // namespace rondo::train
