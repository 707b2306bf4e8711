#pragma once

#include <cmath>
#include <cstddef>
#include <numbers>
#include <string>

#include "core/each.hpp"

namespace rondo::train {

/// The logistic function.
template <class T>
RONDO_EVERYWHERE T sigmoid(T x) {
  return T{1} / (T{1} + std::exp(-x));
}

// What <rondo/train/activation.hpp> says of a Function.
namespace detail {

struct ReluFunction {
  static constexpr const char* kName = "relu";

  template <class T>
  RONDO_EVERYWHERE static T value(T x) {
    return x < T{0} ? T{0} : x;
  }
  template <class T>
  RONDO_EVERYWHERE static T gradient(T, T y, T output_gradient) {
    return y <= T{0} ? T{0} : output_gradient;
  }
};

struct TanhFunction {
  static constexpr const char* kName = "tanh";

  template <class T>
  RONDO_EVERYWHERE static T value(T x) {
    return std::tanh(x);
  }
  template <class T>
  RONDO_EVERYWHERE static T gradient(T, T y, T output_gradient) {
    return output_gradient * (T{1} - y * y);
  }
};

struct SigmoidFunction {
  static constexpr const char* kName = "sigmoid";

  template <class T>
  RONDO_EVERYWHERE static T value(T x) {
    return sigmoid(x);
  }
  template <class T>
  RONDO_EVERYWHERE static T gradient(T, T y, T output_gradient) {
    return output_gradient * y * (T{1} - y);
  }
};

struct GeluFunction {
  static constexpr const char* kName = "gelu";

  template <class T>
  RONDO_EVERYWHERE static T value(T x) {
    return x * normal_distribution(x);
  }
  template <class T>
  RONDO_EVERYWHERE static T gradient(T x, T, T output_gradient) {
    constexpr T kPeak = std::numbers::inv_sqrtpi_v<T> / std::numbers::sqrt2_v<T>;  // 1/√(2π)
    const T density = kPeak * std::exp(-x * x / T{2});
    return output_gradient * (normal_distribution(x) + x * density);
  }

 private:
  template <class T>
  RONDO_EVERYWHERE static T normal_distribution(T x) {
    constexpr T kRoot = std::numbers::sqrt2_v<T>;
    return (T{1} + std::erf(x / kRoot)) / T{2};
  }
};

}  // namespace detail

template <class T, class Function>
struct ActivationValue {
  using Element = T;
  static std::string name() { return std::string(Function::kName) + "_value"; }

  RONDO_EVERYWHERE void operator()(std::size_t i, const T* x, T* y) const {
    y[i] = Function::value(x[i]);
  }
};

template <class T, class Function>
struct ActivationGradient {
  using Element = T;
  static std::string name() { return std::string(Function::kName) + "_gradient"; }

  RONDO_EVERYWHERE void operator()(std::size_t i, const T* x, const T* y, const T* output_gradient,
                                   T* input_gradient) const {
    input_gradient[i] = Function::gradient(x[i], y[i], output_gradient[i]);
  }
};

}  // namespace rondo::train
