#include <rondo/train/layer_norm.hpp>

#include <algorithm>
#include <cmath>

#include "train/memory.hpp"
#include "train/rows.hpp"

namespace rondo::train {

template <class T>
LayerNorm<T>::LayerNorm(const std::string& name, std::size_t features, double epsilon)
    : Layer<T>(name, features, features),
      epsilon_(epsilon),
      weight_(name + ".weight", {features}),
      bias_(name + ".bias", {features}) {
  initialise(0);
}

template <class T>
void LayerNorm<T>::initialise(std::uint64_t) {
  std::ranges::fill(weight_.value().span(), T{1});
  std::ranges::fill(bias_.value().span(), T{0});
}

/// Writes n of one sample; returns 1/√(variance + epsilon).
template <class T>
T LayerNorm<T>::normalise(std::span<const T> sample, std::span<T> normal) const {
  const auto count = static_cast<double>(sample.size());
  double sum = 0.0;
  for (const T x : sample) sum += static_cast<double>(x);
  const double mean = sum / count;
  double squares = 0.0;
  for (const T x : sample)
    squares += (static_cast<double>(x) - mean) * (static_cast<double>(x) - mean);
  const double inverse = 1.0 / std::sqrt(squares / count + epsilon_);
  for (std::size_t i = 0; i < sample.size(); ++i)
    normal[i] = static_cast<T>((static_cast<double>(sample[i]) - mean) * inverse);
  return static_cast<T>(inverse);
}

template <class T>
std::span<const T> LayerNorm<T>::apply(std::span<const T> input, const Pass&) {
  const std::size_t features = this->inputs();
  const std::span<T> normal = grown(normal_, input.size());
  const std::span<T> output = grown(output_, input.size());
  const std::span<T> inverse = grown(inverse_, this->rows());
  for (std::size_t row = 0; row < this->rows(); ++row) {
    const std::span<T> n = normal.subspan(row * features, features);
    inverse[row] = normalise(input.subspan(row * features, features), n);
    T* const y = output.data() + row * features;
    for (std::size_t i = 0; i < features; ++i) y[i] = weight_.value()[i] * n[i] + bias_.value()[i];
  }
  return output;
}

/// With g = output gradient·weight, the input's gradient is
///   (g - mean(g) - n·mean(g·n))/√(variance + epsilon)
template <class T>
std::span<const T> LayerNorm<T>::differentiate(std::span<const T> output_gradient,
                                               const GradientReady& ready, InputGradient wanted) {
  const std::size_t features = this->inputs();
  sum_rows(this->place(), output_gradient, bias_.gradient());
  ready(1);
  const std::span<T> weight_gradient = weight_.gradient();
  std::ranges::fill(weight_gradient, T{0});
  for (std::size_t begin = 0; begin < output_gradient.size(); begin += features)
    for (std::size_t i = 0; i < features; ++i)
      weight_gradient[i] += output_gradient[begin + i] * normal_[begin + i];
  ready(0);
  if (wanted == InputGradient::skip) return {};

  const std::span<T> gradient = grown(input_gradient_, output_gradient.size());
  for (std::size_t row = 0; row < this->rows(); ++row) {
    const T* const n = normal_.data() + row * features;
    const T* const dy = output_gradient.data() + row * features;
    double sum = 0.0;
    double product = 0.0;
    for (std::size_t i = 0; i < features; ++i) {
      const double g = static_cast<double>(dy[i] * weight_.value()[i]);
      sum += g;
      product += g * static_cast<double>(n[i]);
    }
    const T mean = static_cast<T>(sum / static_cast<double>(features));
    const T slope = static_cast<T>(product / static_cast<double>(features));
    for (std::size_t i = 0; i < features; ++i)
      gradient[row * features + i] =
          inverse_[row] * (dy[i] * weight_.value()[i] - mean - n[i] * slope);
  }
  return gradient;
}

template class LayerNorm<float>;
template class LayerNorm<double>;

}  // namespace rondo::train
