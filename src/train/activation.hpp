#pragma once

#include <utility>

#include <rondo/train/activation.hpp>

#include "train/each.hpp"
#include "train/functions/activations.hpp"
#include "train/memory.hpp"

namespace rondo::train {

template <class T, class Function>
Activation<T, Function>::Activation(std::size_t features)
    : Layer<T>(Function::kName, features, features) {}

template <class T, class Function>
std::span<const T> Activation<T, Function>::apply(std::span<const T> input, const Pass&) {
  const std::span<T> output = grown(this->place(), output_, input.size());
  each(this->place(), ActivationValue<T, Function>(), input.size(), input, output);
  return output;
}

template <class T, class Function>
std::span<const T> Activation<T, Function>::differentiate(std::span<const T> output_gradient,
                                                          const GradientReady&,
                                                          InputGradient wanted) {
  if (wanted == InputGradient::skip) return {};
  const std::span<T> gradient = grown(this->place(), input_gradient_, output_gradient.size());
  each(this->place(), ActivationGradient<T, Function>(), gradient.size(), this->input(),
       std::as_const(output_).span().first(gradient.size()), output_gradient, gradient);
  return gradient;
}

}  // namespace rondo::train
