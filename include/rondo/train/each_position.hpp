#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <utility>

#include <rondo/train/layer.hpp>

namespace rondo::train {

/// Does the same at each position of a sequence: a sample of positions × features is `positions`
/// rows to the inner layer.
///   EachPosition<float>(64, Linear<float>("head", 128, 80))    64 × 128 → 64 × 80
///
/// A position has no sample number, so Dropout belongs outside.
template <class T>
class EachPosition final : public Layer<T> {
 public:
  EachPosition(std::size_t positions, std::unique_ptr<Layer<T>> inner)
      : Layer<T>(inner->name(), positions * inner->inputs(), positions * inner->outputs()),
        positions_(positions),
        inner_(std::move(inner)) {}

  template <std::derived_from<Layer<T>> Inner>
  EachPosition(std::size_t positions, Inner inner)
      : EachPosition(positions, std::make_unique<Inner>(std::move(inner))) {}

  std::vector<Parameter<T>*> parameters() override { return inner_->parameters(); }
  std::vector<std::string> unique_names() override { return inner_->unique_names(); }
  void initialise(std::uint64_t seed) override { inner_->initialise(seed); }
  void move_to(Compute& place) override {
    inner_->move_to(place);
    Layer<T>::move_to(place);
  }

 private:
  bool goes_anywhere() const override { return true; }  // if the inner layer does
  std::span<const T> apply(std::span<const T> input, const Pass& pass) override {
    Pass inner_pass = pass;
    inner_pass.samples = {};
    return inner_->forward(input, this->rows() * positions_, inner_pass);
  }
  std::span<const T> differentiate(std::span<const T> output_gradient, const GradientReady& ready,
                                   InputGradient wanted) override {
    return inner_->backward(output_gradient, ready, wanted);
  }

  std::size_t positions_;
  std::unique_ptr<Layer<T>> inner_;
};

}  // namespace rondo::train
