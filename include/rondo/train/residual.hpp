#pragma once

#include <concepts>
#include <memory>
#include <utility>

#include <rondo/train/layer.hpp>

namespace rondo::train {

/// y = x + f(x), where f is a layer with as many outputs as inputs (He et al., 2016):
///   Residual<float> block(Sequential<float>(LayerNorm<float>(…), Linear<float>(…), …));
///
/// Its parameters are f's.
template <class T>
class Residual final : public Layer<T> {
 public:
  /// Throws Error(usage), naming the layer, when its numbers of inputs and outputs differ.
  explicit Residual(std::unique_ptr<Layer<T>> inner);

  template <std::derived_from<Layer<T>> Inner>
  explicit Residual(Inner inner) : Residual(std::make_unique<Inner>(std::move(inner))) {}

  std::vector<Parameter<T>*> parameters() override { return inner_->parameters(); }
  std::vector<std::string> unique_names() override { return inner_->unique_names(); }
  void initialise(std::uint64_t seed) override { inner_->initialise(seed); }

  void move_to(Compute& place) override {
    inner_->move_to(place);
    Layer<T>::move_to(place);
  }

 private:
  bool goes_anywhere() const override { return true; }  // if the inner layer does
  std::span<const T> apply(std::span<const T> input, const Pass& pass) override;
  std::span<const T> differentiate(std::span<const T> output_gradient, const GradientReady& ready,
                                   InputGradient wanted) override;

  std::unique_ptr<Layer<T>> inner_;
  Tensor<T> output_;
  Tensor<T> input_gradient_;
};

extern template class Residual<float>;
extern template class Residual<double>;

}  // namespace rondo::train
