#include <rondo/train/max_pool2d.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include <rondo/error.hpp>

#include "train/memory.hpp"

namespace rondo::train {

namespace {

constexpr const char* kName = "max_pool2d";

/// The pixels of one dimension that the window covers at a place: [begin, end).
struct Covered {
  std::size_t begin;
  std::size_t end;

  Covered(const Window& window, std::size_t place, std::size_t extent)
      : begin(std::max(place * window.stride, window.padding) - window.padding),
        end(std::min(place * window.stride + window.size - window.padding, extent)) {}
};

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
std::uint32_t MaxPool2d<T>::largest_in(const T* plane, std::size_t y, std::size_t x) const {
  const Covered lines(window_, y, input_shape_.height);
  const Covered columns(window_, x, input_shape_.width);
  std::size_t best = lines.begin * input_shape_.width + columns.begin;
  for (std::size_t line = lines.begin; line < lines.end; ++line)
    for (std::size_t column = columns.begin; column < columns.end; ++column) {
      const std::size_t pixel = line * input_shape_.width + column;
      if (plane[pixel] > plane[best] || std::isnan(plane[pixel])) best = pixel;
    }
  return static_cast<std::uint32_t>(best);
}

template <class T>
std::span<const T> MaxPool2d<T>::apply(std::span<const T> input, const Pass&) {
  const std::span<T> output = grown(output_, this->rows() * this->outputs());
  if (chosen_.size() < output.size()) chosen_.resize(output.size());
  const T* plane = input.data();
  for (std::size_t i = 0; i < output.size(); plane += input_shape_.pixels())
    for (std::size_t y = 0; y < output_shape_.height; ++y)
      for (std::size_t x = 0; x < output_shape_.width; ++x, ++i) {
        chosen_[i] = largest_in(plane, y, x);
        output[i] = plane[chosen_[i]];
      }
  return output;
}

template <class T>
std::span<const T> MaxPool2d<T>::differentiate(std::span<const T> output_gradient,
                                               const GradientReady&, InputGradient wanted) {
  if (wanted == InputGradient::skip) return {};
  const std::span<T> gradient = grown(input_gradient_, this->rows() * this->inputs());
  std::ranges::fill(gradient, T{0});
  T* plane = gradient.data();
  for (std::size_t i = 0; i < output_gradient.size(); plane += input_shape_.pixels())
    for (std::size_t end = i + output_shape_.pixels(); i < end; ++i)
      plane[chosen_[i]] += output_gradient[i];
  return gradient;
}

template class MaxPool2d<float>;
template class MaxPool2d<double>;

}  // namespace rondo::train
