#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <rondo/train/layer.hpp>

namespace rondo::train {

/// Layers one after the other, each taking the outputs of the one before it:
///   Sequential<float> model(Linear<float>("hidden", 4, 8), Relu<float>(8), …);
///
/// Its parameters are theirs, in order. initialise() gives each layer a seed of its own.
template <class T>
class Sequential final : public Layer<T> {
 public:
  /// Throws Error(usage), naming the layers, when there are none, when one's outputs are not as
  /// many as the next one's inputs, or when two share a name that must be unique.
  explicit Sequential(std::vector<std::unique_ptr<Layer<T>>> layers);

  template <std::derived_from<Layer<T>>... Layers>
  requires(sizeof...(Layers) > 1) explicit Sequential(Layers... layers)
      : Sequential(listed(std::move(layers)...)) {}

  std::vector<Parameter<T>*> parameters() override;
  std::vector<std::string> unique_names() override;
  void initialise(std::uint64_t seed) override;
  void move_to(Compute& place) override;

 private:
  bool goes_anywhere() const override { return true; }  // if its layers do
  template <class... Layers>
  static std::vector<std::unique_ptr<Layer<T>>> listed(Layers... layers) {
    std::vector<std::unique_ptr<Layer<T>>> list;
    (list.push_back(std::make_unique<Layers>(std::move(layers))), ...);
    return list;
  }

  std::span<const T> apply(std::span<const T> input, const Pass& pass) override;
  std::span<const T> differentiate(std::span<const T> output_gradient, const GradientReady& ready,
                                   InputGradient wanted) override;

  std::vector<std::unique_ptr<Layer<T>>> layers_;
  std::vector<std::size_t> first_parameters_;  // each layer's first one's number
};

extern template class Sequential<float>;
extern template class Sequential<double>;

}  // namespace rondo::train
