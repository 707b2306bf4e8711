#include <rondo/train/conv2d.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "train/blas.hpp"
#include "train/initialise.hpp"
#include "train/memory.hpp"
#include "train/unfold.hpp"

namespace rondo::train {

template <class T>
Conv2d<T>::Conv2d(const std::string& name, const ImageShape& input, std::size_t channels,
                  const Window& window)
    : Conv2d(name, input, window.places(name, input, channels), window) {}

template <class T>
Conv2d<T>::Conv2d(const std::string& name, const ImageShape& input, const ImageShape& output,
                  const Window& window)
    : Layer<T>(name, input.size(), output.size()),
      input_shape_(input),
      window_(window),
      output_shape_(output),
      weight_(name + ".weight", {output.channels, input.channels, window.size, window.size}),
      bias_(name + ".bias", {output.channels}),
      columns_({patch() * output_shape_.pixels()}) {}

template <class T>
void Conv2d<T>::initialise(std::uint64_t seed) {
  draw_uniform<T>(parameters(), 1.0 / std::sqrt(static_cast<double>(patch())), seed);
}

template <class T>
std::span<const T> Conv2d<T>::apply(std::span<const T> input, const Pass&) {
  const std::span<T> output = grown(output_, this->rows() * this->outputs());
  const std::size_t pixels = output_shape_.pixels();
  for (std::size_t row = 0; row < this->rows(); ++row) {
    T* const sample = output.data() + row * this->outputs();
    for (std::size_t channel = 0; channel < output_shape_.channels; ++channel)
      std::fill_n(sample + channel * pixels, pixels, bias_.value()[channel]);
    unfold(input_shape_, window_, input.data() + row * this->inputs(), columns_.data());
    blas::multiply<T>({.rows = output_shape_.channels, .columns = pixels, .inner = patch()},
                      weight_.value().data(), columns_.data(), T{1}, sample);
  }
  return output;
}

template <class T>
std::span<const T> Conv2d<T>::differentiate(std::span<const T> output_gradient,
                                            const GradientReady& ready, InputGradient wanted) {
  differentiate_bias(output_gradient);
  ready(1);
  differentiate_weight(output_gradient);
  ready(0);
  if (wanted == InputGradient::skip) return {};
  const std::span<T> gradient = grown(input_gradient_, this->rows() * this->inputs());
  std::ranges::fill(gradient, T{0});
  for (std::size_t row = 0; row < this->rows(); ++row) {
    blas::multiply<T>({.transpose_a = true,
                       .rows = patch(),
                       .columns = output_shape_.pixels(),
                       .inner = output_shape_.channels},
                      weight_.value().data(), output_gradient.data() + row * this->outputs(), T{0},
                      columns_.data());
    fold(input_shape_, window_, columns_.data(), gradient.data() + row * this->inputs());
  }
  return gradient;
}

template <class T>
void Conv2d<T>::differentiate_bias(std::span<const T> output_gradient) {
  std::ranges::fill(bias_.gradient(), T{0});
  const T* plane = output_gradient.data();
  for (std::size_t row = 0; row < this->rows(); ++row)
    for (T& channel : bias_.gradient()) {
      channel += std::accumulate(plane, plane + output_shape_.pixels(), T{0});
      plane += output_shape_.pixels();
    }
}

/// Unfolds the samples once more: keeping what forward unfolded would take size² times the memory.
template <class T>
void Conv2d<T>::differentiate_weight(std::span<const T> output_gradient) {
  for (std::size_t row = 0; row < this->rows(); ++row) {
    unfold(input_shape_, window_, this->input().data() + row * this->inputs(), columns_.data());
    blas::multiply<T>({.transpose_b = true,
                       .rows = output_shape_.channels,
                       .columns = patch(),
                       .inner = output_shape_.pixels()},
                      output_gradient.data() + row * this->outputs(), columns_.data(),
                      row == 0 ? T{0} : T{1}, weight_.gradient().data());
  }
}

template class Conv2d<float>;
template class Conv2d<double>;

}  // namespace rondo::train
