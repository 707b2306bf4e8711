#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <rondo/train/layer.hpp>

namespace rondo::train {

/// Causal multi-head self-attention (Vaswani et al., 2017), as torch.nn.MultiheadAttention has it
/// with a causal mask and no dropout: each position attends to itself and those before it.
///   (q, k, v) = x·W_inᵀ + b_in, each cut into `heads` pieces of d = width/heads features
///   each head:  softmax(q·kᵀ/√d over the positions so far)·v
///   y = heads side by side·W_outᵀ + b_out
/// A sample is positions × width, both in and out. Scores take heads × positions² elements a
/// sample.
template <class T>
class CausalSelfAttention final : public Layer<T> {
 public:
  /// Parameters are `name`.in_weight (3·width × width), .in_bias (3·width), .out_weight (width ×
  /// width) and .out_bias (width), zeros. Throws Error(usage) unless `heads` divides `width`.
  CausalSelfAttention(const std::string& name, std::size_t positions, std::size_t width,
                      std::size_t heads);

  /// Draws in_weight uniformly from ±√(6/(4·width)) (Glorot & Bengio, 2010) and out_weight from
  /// ±1/√width, and makes the biases zeros: PyTorch's ranges.
  void initialise(std::uint64_t seed) override;

  std::vector<Parameter<T>*> parameters() override {
    return {&in_weight_, &in_bias_, &out_weight_, &out_bias_};
  }

 private:
  bool multiplies() const override { return true; }
  std::span<const T> apply(std::span<const T> input, const Pass& pass) override;
  std::span<const T> differentiate(std::span<const T> output_gradient, const GradientReady& ready,
                                   InputGradient wanted) override;
  void attend(std::size_t row, std::size_t head);
  void differentiate_head(std::size_t row, std::size_t head);

  /// Where a head's part of a sample begins in memory of rows × positions × parts·width.
  std::size_t place(std::size_t row, std::size_t head, std::size_t parts) const {
    return row * positions_ * parts * width_ + head * depth_;
  }
  std::size_t scores_of(std::size_t row, std::size_t head) const {
    return (row * heads_ + head) * positions_ * positions_;
  }

  std::size_t positions_;
  std::size_t width_;
  std::size_t heads_;
  std::size_t depth_;  // features of a head
  Parameter<T> in_weight_;
  Parameter<T> in_bias_;
  Parameter<T> out_weight_;
  Parameter<T> out_bias_;
  // Of the last forward():
  Tensor<T> projected_;  // rows × positions × (q, k, v)
  Tensor<T> scores_;     // rows × heads × positions × positions, after softmax
  Tensor<T> mixed_;      // rows × positions × width: heads side by side
  Tensor<T> output_;
  // Of the last backward():
  Tensor<T> projected_gradient_;
  Tensor<T> scores_gradient_;  // of one head
  Tensor<T> mixed_gradient_;
  Tensor<T> input_gradient_;
};

extern template class CausalSelfAttention<float>;
extern template class CausalSelfAttention<double>;

}  // namespace rondo::train
