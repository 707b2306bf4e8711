#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <rondo/train/layer.hpp>

namespace rondo::train {

/// Adds a learned vector to each position of a sequence, so that attention can tell positions apart
/// (Gehring et al., 2017): y[p] = x[p] + W[p]. A sample is positions × width, both in and out.
template <class T>
class PositionEmbedding final : public Layer<T> {
 public:
  /// The parameter is `name`.weight, positions × width zeros.
  PositionEmbedding(const std::string& name, std::size_t positions, std::size_t width);

  /// Draws from the normal distribution of mean 0 and deviation 0.02 (as GPT-2 does).
  void initialise(std::uint64_t seed) override;

  Parameter<T>& weight() { return weight_; }
  std::vector<Parameter<T>*> parameters() override { return {&weight_}; }

 private:
  std::span<const T> apply(std::span<const T> input, const Pass& pass) override;
  std::span<const T> differentiate(std::span<const T> output_gradient, const GradientReady& ready,
                                   InputGradient wanted) override;

  Parameter<T> weight_;
  Tensor<T> output_;
};

extern template class PositionEmbedding<float>;
extern template class PositionEmbedding<double>;

}  // namespace rondo::train
