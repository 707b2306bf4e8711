#include <rondo/train/sigmoid.hpp>

#include <cmath>

#include "train/activation.hpp"

namespace rondo::train {

namespace detail {

template <class T>
T SigmoidFunction::value(T x) {
  return T{1} / (T{1} + std::exp(-x));
}

template <class T>
T SigmoidFunction::gradient(T, T y, T output_gradient) {
  return output_gradient * y * (T{1} - y);
}

}  // namespace detail

template class Activation<float, detail::SigmoidFunction>;
template class Activation<double, detail::SigmoidFunction>;

}  // namespace rondo::train
