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

  /// Draws weight and bias uniformly from ±1/√inputs (PyTorch's range, not its numbers). The same
  /// seed gives the same numbers everywhere.
  void initialise(std::uint64_t seed);

  Parameter<T>& weight() { return weight_; }
  Parameter<T>& bias() { return bias_; }

  std::size_t inputs() const override { return inputs_; }
  std::size_t outputs() const override { return outputs_; }
  std::vector<Parameter<T>*> parameters() override { return {&weight_, &bias_}; }
  std::span<const T> forward(std::span<const T> input, std::size_t rows) override;
  void backward(std::span<const T> output_gradient, const GradientReady& ready) override;
  std::span<const T> input_gradient(std::span<const T> output_gradient) override;

 private:
  void check_output_gradient(std::span<const T> output_gradient) const;

  std::size_t inputs_;
  std::size_t outputs_;
  Parameter<T> weight_;
  Parameter<T> bias_;
  std::size_t rows_ = 0;      // of the last forward()
  std::span<const T> input_;  // of the last forward()
  Tensor<T> output_;          // memory for the largest batch so far
  Tensor<T> input_gradient_;  // likewise
};

extern template class Linear<float>;
extern template class Linear<double>;

}  // namespace rondo::train
