#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <rondo/train/layer.hpp>

namespace rondo::train {

/// y = x·Wᵀ + b: weight W is outputs × inputs, bias b has `outputs` elements, as in PyTorch. Matrix
/// products are BLAS's.
template <class T>
class Linear final : public Layer<T> {
 public:
  /// Parameters are `name`.weight and `name`.bias, zeros. Throws Error(usage) when a size is 0 or
  /// beyond what BLAS can index (2^31 - 1).
  Linear(const std::string& name, std::size_t inputs, std::size_t outputs);

  /// Draws weight and bias uniformly from ±1/√inputs (PyTorch's range, not its numbers).
  void initialise(std::uint64_t seed) override;

  Parameter<T>& weight() { return weight_; }
  Parameter<T>& bias() { return bias_; }
  std::vector<Parameter<T>*> parameters() override { return {&weight_, &bias_}; }

 private:
  bool goes_anywhere() const override { return true; }
  bool multiplies() const override { return true; }
  std::span<const T> apply(std::span<const T> input, const Pass& pass) override;
  std::span<const T> differentiate(std::span<const T> output_gradient, const GradientReady& ready,
                                   InputGradient wanted) override;

  Parameter<T> weight_;
  Parameter<T> bias_;
  Tensor<T> output_;
  Tensor<T> input_gradient_;
};

extern template class Linear<float>;
extern template class Linear<double>;

}  // namespace rondo::train
