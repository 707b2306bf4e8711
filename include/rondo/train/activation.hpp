#pragma once

#include <cstddef>

#include <rondo/train/layer.hpp>

namespace rondo::train {

/// y = f(x) for each element of any number of features. Function gives f and its derivative:
///   template <class T> static T value(T x);
///   template <class T> static T gradient(T x, T y, T output_gradient);  // f'(x)·output_gradient
template <class T, class Function>
class Activation final : public Layer<T> {
 public:
  explicit Activation(std::size_t features);

 private:
  bool goes_anywhere() const override { return true; }
  std::span<const T> apply(std::span<const T> input, const Pass& pass) override;
  std::span<const T> differentiate(std::span<const T> output_gradient, const GradientReady& ready,
                                   InputGradient wanted) override;

  Tensor<T> output_;
  Tensor<T> input_gradient_;
};

}  // namespace rondo::train
