#include <rondo/train/tanh.hpp>

#include <cmath>

#include "train/activation.hpp"

namespace rondo::train {

namespace detail {

template <class T>
T TanhFunction::value(T x) {
  return std::tanh(x);
}

template <class T>
T TanhFunction::gradient(T, T y, T output_gradient) {
  return output_gradient * (T{1} - y * y);
}

}  // namespace detail

template class Activation<float, detail::TanhFunction>;
template class Activation<double, detail::TanhFunction>;

}  // namespace rondo::train
