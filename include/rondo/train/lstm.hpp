#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <rondo/train/layer.hpp>

namespace rondo::train {

/// Long short-term memory (Hochreiter & Schmidhuber, 1997; forget gate: Gers et al., 2000) over a
/// sequence of positions, as one layer of torch.nn.LSTM has it. At each position, from h = c = 0
/// on:
///   (i, f, g, o) = x·W_ihᵀ + b_ih + h·W_hhᵀ + b_hh        σ on i, f, o; tanh on g
///   c ← f·c + i·g;  h ← o·tanh(c)
/// A sample of positions × features goes in; h at each position, positions × hidden, comes out.
/// backward() goes back through all of the positions.
template <class T>
class Lstm final : public Layer<T> {
 public:
  /// Parameters are `name`.weight_ih (4·hidden × features), .weight_hh (4·hidden × hidden),
  /// .bias_ih and .bias_hh (4·hidden), zeros; the gates lie in the order i, f, g, o.
  Lstm(const std::string& name, std::size_t positions, std::size_t features, std::size_t hidden);

  /// Draws all parameters uniformly from ±1/√hidden (PyTorch's range).
  void initialise(std::uint64_t seed) override;

  std::vector<Parameter<T>*> parameters() override {
    return {&weight_ih_, &weight_hh_, &bias_ih_, &bias_hh_};
  }

 private:
  bool multiplies() const override { return true; }
  std::span<const T> apply(std::span<const T> input, const Pass& pass) override;
  std::span<const T> differentiate(std::span<const T> output_gradient, const GradientReady& ready,
                                   InputGradient wanted) override;
  void add_previous_states(std::size_t position);
  void advance(std::size_t position);
  void differentiate_position(std::size_t position, std::span<const T> output_gradient);
  void differentiate_weight_hh();

  std::size_t positions_;
  std::size_t features_;
  std::size_t hidden_;
  Parameter<T> weight_ih_;
  Parameter<T> weight_hh_;
  Parameter<T> bias_ih_;
  Parameter<T> bias_hh_;
  // Of the last forward(), rows × positions × …
  Tensor<T> gates_;   // 4·hidden: i, f, g, o
  Tensor<T> cells_;   // hidden: c
  Tensor<T> output_;  // hidden: h
  // Of the last backward():
  Tensor<T> gate_gradients_;  // as gates_, before σ and tanh
  Tensor<T> state_gradient_;  // rows × hidden: of h, from the position behind
  Tensor<T> cell_gradient_;   // rows × hidden: of c, from the position behind
  Tensor<T> input_gradient_;
};

extern template class Lstm<float>;
extern template class Lstm<double>;

}  // namespace rondo::train
