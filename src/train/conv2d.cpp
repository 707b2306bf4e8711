#include <rondo/train/conv2d.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

#include "train/each.hpp"
#include "train/functions/images.hpp"
#include "train/initialise.hpp"
#include "train/memory.hpp"
#include "train/multiply.hpp"
#include "train/rows.hpp"

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
      bias_(name + ".bias", {output.channels}) {}

template <class T>
void Conv2d<T>::initialise(std::uint64_t seed) {
  draw_uniform<T>(parameters(), 1.0 / std::sqrt(static_cast<double>(patch())), seed);
}

template <class T>
std::size_t Conv2d<T>::samples_at_once() const {
  if (this->place().on_host()) return 1;  // whose columns stay in its cache
  constexpr std::size_t kMostElements = std::size_t{1} << 24;
  return std::max(kMostElements / (patch() * output_shape_.pixels()), std::size_t{1});
}

/// Calls body(first, count) for all samples, some at a time.
template <class T>
template <class Body>
void Conv2d<T>::for_each_part(Body body) {
  const std::size_t most = samples_at_once();
  for (std::size_t first = 0; first < this->rows(); first += most)
    body(first, std::min(most, this->rows() - first));
}

template <class T>
std::span<const T> Conv2d<T>::unfolded(std::size_t first, std::size_t count) {
  const std::size_t pixels = output_shape_.pixels();
  const std::span<T> columns = grown(this->place(), columns_, count * patch() * pixels);
  const auto images = this->input().subspan(first * this->inputs(), count * this->inputs());
  each(this->place(), Unfold<T>{input_shape_, window_}, count * patch(), images, columns);
  return columns;
}

template <class T>
std::span<const T> Conv2d<T>::apply(std::span<const T>, const Pass&) {
  const std::span<T> output = grown(this->place(), output_, this->rows() * this->outputs());
  const std::size_t pixels = output_shape_.pixels();
  const std::size_t channels = output_shape_.channels;
  for_each_part([&](std::size_t first, std::size_t count) {
    const auto part = output.subspan(first * this->outputs(), count * this->outputs());
    each(this->place(), FillPlane<T>{channels, pixels}, count * channels, part,
         std::as_const(bias_).value().span());
    multiply<T>(this->place(), {.rows = channels, .columns = pixels, .inner = patch()},
                {.count = count, .step_b = patch() * pixels, .step_c = this->outputs()},
                weight_.value().data(), unfolded(first, count).data(), T{1}, part.data());
  });
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
  return differentiate_input(output_gradient);
}

template <class T>
void Conv2d<T>::differentiate_bias(std::span<const T> output_gradient) {
  const std::size_t planes = this->rows() * output_shape_.channels;
  const std::span<T> sums = grown(this->place(), plane_sums_, planes);
  each(this->place(), SumPlane<T>{output_shape_.pixels()}, planes, output_gradient, sums);
  sum_rows<T>(this->place(), sums, bias_.gradient());
}

/// Unfolds the samples once more: keeping what forward unfolded would take size² times the memory.
template <class T>
void Conv2d<T>::differentiate_weight(std::span<const T> output_gradient) {
  for_each_part([&](std::size_t first, std::size_t count) {
    multiply<T>(
        this->place(),
        {.transpose_b = true,
         .rows = output_shape_.channels,
         .columns = patch(),
         .inner = output_shape_.pixels()},
        {.count = count, .step_a = this->outputs(), .step_b = patch() * output_shape_.pixels()},
        output_gradient.data() + first * this->outputs(), unfolded(first, count).data(),
        first == 0 ? T{0} : T{1}, weight_.gradient().data());
  });
}

template <class T>
std::span<const T> Conv2d<T>::differentiate_input(std::span<const T> output_gradient) {
  const std::span<T> gradient =
      grown(this->place(), input_gradient_, this->rows() * this->inputs());
  const std::size_t matrix = patch() * output_shape_.pixels();
  for_each_part([&](std::size_t first, std::size_t count) {
    const std::span<T> columns = grown(this->place(), columns_, count * matrix);
    multiply<T>(this->place(),
                {.transpose_a = true,
                 .rows = patch(),
                 .columns = output_shape_.pixels(),
                 .inner = output_shape_.channels},
                {.count = count, .step_b = this->outputs(), .step_c = matrix},
                weight_.value().data(), output_gradient.data() + first * this->outputs(), T{0},
                columns.data());
    each(this->place(), FoldPlane<T>{input_shape_, window_}, count * input_shape_.channels,
         std::span<const T>(columns),
         gradient.subspan(first * this->inputs(), count * this->inputs()));
  });
  return gradient;
}

template class Conv2d<float>;
template class Conv2d<double>;

}  // namespace rondo::train
