#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <rondo/train/layer.hpp>

namespace rondo::train {

/// A vector for each of `count` words, as torch.nn.Embedding has it: y[p] = W[x[p]] at each of a
/// sample's `positions`. Inputs are word numbers from 0 on, held in T; outputs are positions ×
/// width.
///
/// It must be a model's first layer: numbers of words have no gradient. forward() throws
/// Error(usage), naming row and position, for what is no word's number; backward(), when the
/// input's gradient is wanted.
template <class T>
class Embedding final : public Layer<T> {
 public:
  /// The parameter is `name`.weight, count × width zeros. Throws Error(usage) unless `count` is 1
  /// to 2^24, all of which a float can hold.
  Embedding(const std::string& name, std::size_t positions, std::size_t count, std::size_t width);

  /// Draws from the normal distribution of mean 0 and variance 1 (PyTorch's, not its numbers).
  void initialise(std::uint64_t seed) override;

  Parameter<T>& weight() { return weight_; }
  std::vector<Parameter<T>*> parameters() override { return {&weight_}; }

 private:
  std::span<const T> apply(std::span<const T> input, const Pass& pass) override;
  std::span<const T> differentiate(std::span<const T> output_gradient, const GradientReady& ready,
                                   InputGradient wanted) override;
  std::size_t word_at(std::size_t i) const;

  std::size_t count_;
  std::size_t width_;
  Parameter<T> weight_;
  Tensor<T> output_;
};

extern template class Embedding<float>;
extern template class Embedding<double>;

}  // namespace rondo::train
