#include <rondo/train/max_pool2d.hpp>

#include <utility>

#include <fmt/core.h>

#include <rondo/error.hpp>

#include "train/each.hpp"
#include "train/functions/images.hpp"
#include "train/memory.hpp"

namespace rondo::train {

namespace {

constexpr const char* kName = "max_pool2d";

}  // namespace

template <class T>
MaxPool2d<T>::MaxPool2d(const ImageShape& input, const Window& window)
    : MaxPool2d(input, window.places(kName, input, input.channels), window) {}

template <class T>
MaxPool2d<T>::MaxPool2d(const ImageShape& input, const ImageShape& output, const Window& window)
    : Layer<T>(kName, input.size(), output.size()),
      input_shape_(input),
      window_(window),
      output_shape_(output) {
  if (window.padding > window.size / 2)  // or a place may have nothing but padding
    throw Error(ErrorCode::usage,
                fmt::format("a pooling window of size {} may have a padding of at most {}, not {}",
                            window.size, window.size / 2, window.padding));
}

template <class T>
std::span<const T> MaxPool2d<T>::apply(std::span<const T> input, const Pass&) {
  const std::size_t count = this->rows() * this->outputs();
  const std::span<T> output = grown(this->place(), output_, count);
  each(this->place(), MaxPool<T>{input_shape_, window_}, this->rows() * input_shape_.channels,
       input, output, grown(this->place(), chosen_, count));
  return output;
}

template <class T>
std::span<const T> MaxPool2d<T>::differentiate(std::span<const T> output_gradient,
                                               const GradientReady&, InputGradient wanted) {
  if (wanted == InputGradient::skip) return {};
  const std::span<T> gradient =
      grown(this->place(), input_gradient_, this->rows() * this->inputs());
  each(this->place(), MaxPoolGradient<T>{input_shape_.pixels(), output_shape_.pixels()},
       this->rows() * input_shape_.channels, output_gradient,
       std::as_const(chosen_).span().first(output_gradient.size()), gradient);
  return gradient;
}

template class MaxPool2d<float>;
template class MaxPool2d<double>;

}  // namespace rondo::train
