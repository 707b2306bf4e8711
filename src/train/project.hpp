#pragma once

#include <cstddef>
#include <span>

#include <rondo/train/parameter.hpp>

#include "train/memory.hpp"
#include "train/multiply.hpp"
#include "train/rows.hpp"

namespace rondo::train {

/// y = x·Wᵀ + b for any number of rows, in memory that grows, where W and b lie; W is outputs ×
/// inputs.
template <class T>
std::span<const T> project(std::span<const T> x, const Parameter<T>& weight,
                           const Parameter<T>& bias, Tensor<T>& memory) {
  const std::size_t outputs = weight.value().shape()[0];
  const std::size_t inputs = weight.value().shape()[1];
  const std::size_t rows = x.size() / inputs;
  Compute& place = weight.value().place();
  const std::span<T> y = grown(place, memory, rows * outputs);
  fill_rows<T>(place, y, bias.value().span());
  multiply<T>(place, {.transpose_b = true, .rows = rows, .columns = outputs, .inner = inputs},
              x.data(), weight.value().data(), T{1}, y.data());
  return y;
}

/// From the gradient of y, the weight's, Σ over the rows.
template <class T>
void differentiate_projection(std::span<const T> y_gradient, std::span<const T> x,
                              Parameter<T>& weight) {
  const std::size_t outputs = weight.value().shape()[0];
  const std::size_t inputs = weight.value().shape()[1];
  multiply<T>(weight.value().place(),
              {.transpose_a = true, .rows = outputs, .columns = inputs, .inner = x.size() / inputs},
              y_gradient.data(), x.data(), T{0}, weight.gradient().data());
}

/// From the gradient of y, that of x, in memory that grows.
template <class T>
std::span<const T> project_back(std::span<const T> y_gradient, const Parameter<T>& weight,
                                Tensor<T>& memory) {
  const std::size_t outputs = weight.value().shape()[0];
  const std::size_t inputs = weight.value().shape()[1];
  const std::size_t rows = y_gradient.size() / outputs;
  Compute& place = weight.value().place();
  const std::span<T> x_gradient = grown(place, memory, rows * inputs);
  multiply<T>(place, {.rows = rows, .columns = inputs, .inner = outputs}, y_gradient.data(),
              weight.value().data(), T{0}, x_gradient.data());
  return x_gradient;
}

}  // namespace rondo::train
