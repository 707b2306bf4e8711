#include <rondo/train/tanh.hpp>

#include <cmath>

#include "train/activation.hpp"

namespace rondo::train {

namespace detail {

struct TanhFunction {
  static constexpr const char* kName = "tanh";

  template <class T>
  static T value(T x) {
    return std::tanh(x);
  }

  template <class T>
  static T gradient(T, T y, T output_gradient) {
    return output_gradient * (T{1} - y * y);
  }
};

}  // namespace detail

template class Activation<float, detail::TanhFunction>;
template class Activation<double, detail::TanhFunction>;

}  // namespace rondo::train
