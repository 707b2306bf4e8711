#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <rondo/train/layer.hpp>

namespace rondo::train {

/// In training, makes each element 0 with the given probability and multiplies the others by
/// 1/(1 - probability) (Srivastava et al., 2014; this scaling as PyTorch has it). In evaluation,
/// changes nothing.
///
/// Whether an element is dropped is a function of (seed, the layer's name, step, the sample's
/// number in the data set, element) alone, so the number of ranks does not matter, nor where a
/// sample lies in its batch.
template <class T>
class Dropout final : public Layer<T> {
 public:
  /// No other layer of the model may have the name. Throws Error(usage) unless
  /// 0 ≤ probability < 1. forward() throws it in training when the pass has not a sample number for
  /// each row.
  Dropout(const std::string& name, std::size_t features, double probability);

  std::vector<std::string> unique_names() override { return {this->name()}; }

 private:
  bool goes_anywhere() const override { return true; }
  std::span<const T> apply(std::span<const T> input, const Pass& pass) override;
  std::span<const T> differentiate(std::span<const T> output_gradient, const GradientReady& ready,
                                   InputGradient wanted) override;
  void draw_mask(const Pass& pass, std::span<T> mask);

  double probability_;
  std::uint64_t number_;              // of the layer
  bool changes_ = false;              // whether the last forward() did
  std::vector<std::uint64_t> seeds_;  // of each row's mask
  Tensor<std::uint64_t> placed_seeds_;
  Tensor<T> mask_;  // what each input is multiplied by
  Tensor<T> output_;
  Tensor<T> input_gradient_;
};

extern template class Dropout<float>;
extern template class Dropout<double>;

}  // namespace rondo::train
