#include <rondo/train/linear.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <fmt/core.h>

#include <rondo/error.hpp>

#include "train/blas.hpp"

namespace rondo::train {

namespace {

std::size_t checked_extent(const std::string& name, std::size_t extent) {
  constexpr std::size_t kMost = std::numeric_limits<int>::max();
  if (extent == 0 || extent > kMost)
    throw Error(ErrorCode::usage,
                fmt::format("layer '{}' wants {} inputs or outputs; 1 to {} are possible", name,
                            extent, kMost));
  return extent;
}

void check_size(const char* what, const std::string& layer, std::size_t got, std::size_t rows,
                std::size_t columns) {
  if (got != rows * columns)
    throw Error(ErrorCode::usage, fmt::format("{} of '{}' has {} elements; {} rows of {} need {}",
                                              what, layer, got, rows, columns, rows * columns));
}

/// The first rows × columns elements of `memory`, which grows when too small.
template <class T>
std::span<T> matrix_in(Tensor<T>& memory, std::size_t rows, std::size_t columns) {
  if (memory.size() < rows * columns) memory = Tensor<T>({rows, columns});
  return memory.span().first(rows * columns);
}

}  // namespace

template <class T>
Linear<T>::Linear(const std::string& name, std::size_t inputs, std::size_t outputs)
    : inputs_(checked_extent(name, inputs)),
      outputs_(checked_extent(name, outputs)),
      weight_(name + ".weight", {outputs, inputs}),
      bias_(name + ".bias", {outputs}) {}

template <class T>
void Linear<T>::initialise(std::uint64_t seed) {
  // Not std::uniform_real_distribution, whose numbers differ between standard libraries.
  std::mt19937_64 random(seed);
  const double bound = 1.0 / std::sqrt(static_cast<double>(inputs_));
  const auto draw = [&] {
    const double unit = static_cast<double>(random() >> 11) * 0x1p-53;  // [0, 1)
    return static_cast<T>(bound * (2.0 * unit - 1.0));
  };
  for (Parameter<T>* parameter : parameters())
    std::ranges::generate(parameter->value().span(), draw);
}

template <class T>
std::span<const T> Linear<T>::forward(std::span<const T> input, std::size_t rows) {
  check_size("the input", weight_.name(), input.size(), rows, inputs_);
  rows_ = rows;
  input_ = input;
  const std::span<T> output = matrix_in(output_, rows, outputs_);
  for (std::size_t row = 0; row < rows; ++row)
    std::ranges::copy(bias_.value().span(), output.subspan(row * outputs_).begin());
  if (rows > 0)
    blas::multiply<T>({.transpose_b = true, .rows = rows, .columns = outputs_, .inner = inputs_},
                      input.data(), weight_.value().data(), T{1}, output.data());
  return output;
}

template <class T>
void Linear<T>::check_output_gradient(std::span<const T> output_gradient) const {
  check_size("the output's gradient", weight_.name(), output_gradient.size(), rows_, outputs_);
}

template <class T>
void Linear<T>::backward(std::span<const T> output_gradient, const GradientReady& ready) {
  check_output_gradient(output_gradient);
  const std::span<T> bias = bias_.gradient();
  std::ranges::fill(bias, T{0});
  for (std::size_t row = 0; row < rows_; ++row)
    for (std::size_t i = 0; i < outputs_; ++i) bias[i] += output_gradient[row * outputs_ + i];
  ready(1);

  if (rows_ == 0)
    std::ranges::fill(weight_.gradient(), T{0});
  else
    blas::multiply<T>({.transpose_a = true, .rows = outputs_, .columns = inputs_, .inner = rows_},
                      output_gradient.data(), input_.data(), T{0}, weight_.gradient().data());
  ready(0);
}

template <class T>
std::span<const T> Linear<T>::input_gradient(std::span<const T> output_gradient) {
  check_output_gradient(output_gradient);
  const std::span<T> gradient = matrix_in(input_gradient_, rows_, inputs_);
  if (rows_ > 0)
    blas::multiply<T>({.rows = rows_, .columns = inputs_, .inner = outputs_},
                      output_gradient.data(), weight_.value().data(), T{0}, gradient.data());
  return gradient;
}

template class Linear<float>;
template class Linear<double>;

}  // namespace rondo::train
