#pragma once

#include <rondo/train/activation.hpp>

#include "train/memory.hpp"

namespace rondo::train {

template <class T, class Function>
Activation<T, Function>::Activation(std::size_t features)
    : Layer<T>(Function::kName, features, features) {}

template <class T, class Function>
std::span<const T> Activation<T, Function>::apply(std::span<const T> input, const Pass&) {
  const std::span<T> output = grown(output_, input.size());
  for (std::size_t i = 0; i < input.size(); ++i) output[i] = Function::value(input[i]);
  return output;
}

template <class T, class Function>
std::span<const T> Activation<T, Function>::differentiate(std::span<const T> output_gradient,
                                                          const GradientReady&,
                                                          InputGradient wanted) {
  if (wanted == InputGradient::skip) return {};
  const std::span<T> gradient = grown(input_gradient_, output_gradient.size());
  for (std::size_t i = 0; i < gradient.size(); ++i)
    gradient[i] = Function::gradient(this->input()[i], output_[i], output_gradient[i]);
  return gradient;
}

}  // namespace rondo::train
