#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>

#include <rondo/train/parameter.hpp>

#include "train/random.hpp"

namespace rondo::train {

/// Draws parameters' elements, one parameter after the other, uniformly from ±bound. Not
/// std::uniform_real_distribution, whose numbers differ between standard libraries.
template <class T>
void draw_uniform(std::span<Parameter<T>* const> parameters, double bound, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto draw = [&] { return static_cast<T>(bound * (2.0 * unit_interval(random()) - 1.0)); };
  for (Parameter<T>* parameter : parameters) std::ranges::generate(parameter->value().span(), draw);
}

}  // namespace rondo::train
