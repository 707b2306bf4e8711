#pragma once

#include <cstddef>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <rondo/train/dataset.hpp>

namespace rondo::testing {

/// Samples whose target is an uneven sum of the features, 3, and noise.
inline train::Dataset random_data(std::size_t samples, std::size_t width) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  train::Dataset data;
  data.target_name = "y";
  for (std::size_t i = 0; i < width; ++i)
    data.feature_names.push_back(std::string("x") + std::to_string(i));
  for (std::size_t sample = 0; sample < samples; ++sample) {
    double target = 3 + 0.1 * normal(random);
    for (std::size_t i = 0; i < width; ++i) {
      data.features.push_back(100 * static_cast<double>(i) + normal(random));
      target += data.features.back() / static_cast<double>(i + 1);
    }
    data.targets.push_back(target);
  }
  return data;
}

inline std::vector<std::size_t> first_samples(std::size_t count) {
  std::vector<std::size_t> samples(count);
  std::iota(samples.begin(), samples.end(), std::size_t{0});
  return samples;
}

}  // namespace rondo::testing
