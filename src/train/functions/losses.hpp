#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "core/each.hpp"

namespace rondo::train {

/// (x - target)², and its derivative unless there is no room for it.
template <class T>
struct SquaredError {
  using Element = T;
  static std::string name() { return "squared_error"; }

  RONDO_EVERYWHERE double operator()(std::size_t i, const T* x, const T* target,
                                     T* gradient) const {
    const T difference = x[i] - target[i];
    if (gradient != nullptr) gradient[i] = T{2} * difference;
    return static_cast<double>(difference) * static_cast<double>(difference);
  }
};

/// One row's -log softmax(logits)[target], and its gradient unless there is no room for it. NaN for
/// a target that is not among the classes.
template <class T>
struct CrossEntropy {
  using Element = T;
  static std::string name() { return "cross_entropy"; }

  std::size_t classes;
  std::uint32_t no_target;

  RONDO_EVERYWHERE double operator()(std::size_t row, const T* all_logits,
                                     const std::uint32_t* targets, T* all_gradients) const {
    const T* const logits = all_logits + row * classes;
    T* const gradient = all_gradients == nullptr ? nullptr : all_gradients + row * classes;
    const std::uint32_t target = targets[row];
    if (target == no_target) {
      for (std::size_t i = 0; gradient != nullptr && i < classes; ++i) gradient[i] = T{0};
      return 0.0;
    }
    if (target >= classes) return std::numeric_limits<double>::quiet_NaN();

    T largest = logits[0];
    for (std::size_t i = 1; i < classes; ++i)
      if (largest < logits[i]) largest = logits[i];
    double sum = 0.0;
    for (std::size_t i = 0; i < classes; ++i) {
      const T power = std::exp(logits[i] - largest);
      sum += static_cast<double>(power);
      if (gradient != nullptr) gradient[i] = power;
    }
    if (gradient != nullptr) {
      const T factor = static_cast<T>(1.0 / sum);
      for (std::size_t i = 0; i < classes; ++i) gradient[i] *= factor;
      gradient[target] -= T{1};
    }
    return std::log(sum) + static_cast<double>(largest - logits[target]);
  }
};

}  // namespace rondo::train
