#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <span>
#include <vector>

#include <rondo/train/parameter.hpp>

#include "train/random.hpp"

namespace rondo::train {

/// Draws parameters' elements, one parameter after the other, uniformly from ±bound. Not
/// std::uniform_real_distribution, whose numbers differ between standard libraries.
template <class T>
void draw_uniform(std::span<Parameter<T>* const> parameters, double bound, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto draw = [&] { return static_cast<T>(bound * (2.0 * unit_interval(random()) - 1.0)); };
  std::vector<T> drawn;
  for (Parameter<T>* parameter : parameters) {
    drawn.resize(parameter->size());
    std::ranges::generate(drawn, draw);
    Tensor<T>& value = parameter->value();
    value.place().copy(value.data(), drawn.data(), drawn.size() * sizeof(T));
  }
}

/// Draws elements from the normal distribution of mean 0 and variance 1 (Box & Muller, 1958).
template <class T>
void draw_normal(std::span<T> elements, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (T& element : elements) {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - unit_interval(random())));
    element = static_cast<T>(radius * std::cos(2.0 * std::numbers::pi * unit_interval(random())));
  }
}

}  // namespace rondo::train
