#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <rondo/train/layer.hpp>

namespace rondo::train {

/// Gives each sample mean 0 and variance 1, then a weight and a bias for each feature (Ba, Kiros &
/// Hinton, 2016), as torch.nn.LayerNorm has it:
///   n = (x - mean(x))/√(mean((x - mean(x))²) + epsilon),  y = weight·n + bias
/// EachPosition does so at each position of a sequence.
template <class T>
class LayerNorm final : public Layer<T> {
 public:
  /// Parameters are `name`.weight, ones, and `name`.bias, zeros.
  LayerNorm(const std::string& name, std::size_t features, double epsilon = 1e-5);

  /// Makes the weight ones and the bias zeros.
  void initialise(std::uint64_t seed) override;

  Parameter<T>& weight() { return weight_; }
  Parameter<T>& bias() { return bias_; }
  std::vector<Parameter<T>*> parameters() override { return {&weight_, &bias_}; }

 private:
  std::span<const T> apply(std::span<const T> input, const Pass& pass) override;
  std::span<const T> differentiate(std::span<const T> output_gradient, const GradientReady& ready,
                                   InputGradient wanted) override;
  T normalise(std::span<const T> sample, std::span<T> normal) const;

  double epsilon_;
  Parameter<T> weight_;
  Parameter<T> bias_;
  Tensor<T> normal_;   // n
  Tensor<T> inverse_;  // one a sample: 1/√(variance + epsilon)
  Tensor<T> output_;
  Tensor<T> input_gradient_;
};

extern template class LayerNorm<float>;
extern template class LayerNorm<double>;

}  // namespace rondo::train
