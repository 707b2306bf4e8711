#include <rondo/train/gelu.hpp>

#include <cmath>
#include <numbers>

#include "train/activation.hpp"

namespace rondo::train {

namespace detail {

namespace {
template <class T>
T normal_distribution(T x) {
  return (T{1} + std::erf(x / std::numbers::sqrt2_v<T>)) / T{2};
}
}  // namespace

struct GeluFunction {
  static constexpr const char* kName = "gelu";

  template <class T>
  static T value(T x) {
    return x * normal_distribution(x);
  }

  template <class T>
  static T gradient(T x, T, T output_gradient) {
    constexpr T kPeak = std::numbers::inv_sqrtpi_v<T> / std::numbers::sqrt2_v<T>;  // 1/√(2π)
    const T density = kPeak * std::exp(-x * x / T{2});
    return output_gradient * (normal_distribution(x) + x * density);
  }
};

}  // namespace detail

template class Activation<float, detail::GeluFunction>;
template class Activation<double, detail::GeluFunction>;

}  // namespace rondo::train
