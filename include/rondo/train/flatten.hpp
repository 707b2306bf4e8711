#pragma once

#include <rondo/train/layer.hpp>

namespace rondo::train {

/// Takes a sample of several dimensions as one row of features. That is how it lies in memory, so
/// nothing is copied: the outputs are the inputs.
template <class T>
class Flatten final : public Layer<T> {
 public:
  explicit Flatten(std::size_t features) : Layer<T>("flatten", features, features) {}

 private:
  bool goes_anywhere() const override { return true; }
  std::span<const T> apply(std::span<const T> input, const Pass&) override { return input; }
  std::span<const T> differentiate(std::span<const T> output_gradient, const GradientReady&,
                                   InputGradient wanted) override {
    return wanted == InputGradient::skip ? std::span<const T>() : output_gradient;
  }
};

}  // namespace rondo::train
