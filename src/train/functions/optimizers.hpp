#pragma once

#include <cmath>
#include <cstddef>
#include <string>

#include "core/each.hpp"

// One element's update; <rondo/train/optimizer.hpp> has the formulas.
namespace rondo::train {

template <class T>
struct SgdUpdate {
  using Element = T;
  static std::string name() { return "sgd"; }

  T rate;
  T decay;

  RONDO_EVERYWHERE void operator()(std::size_t i, T* value, const T* gradient) const {
    value[i] -= rate * (gradient[i] + decay * value[i]);
  }
};

template <class T>
struct MomentumUpdate {
  using Element = T;
  static std::string name() { return "momentum"; }

  T rate;
  T decay;
  T momentum;
  bool nesterov;

  RONDO_EVERYWHERE void operator()(std::size_t i, T* value, const T* gradient, T* velocity) const {
    const T g = gradient[i] + decay * value[i];
    velocity[i] = momentum * velocity[i] + g;
    value[i] -= rate * (nesterov ? g + momentum * velocity[i] : velocity[i]);
  }
};

/// Adam and AdamW: the same but for what weight decay does.
template <class T>
struct AdamUpdate {
  using Element = T;
  static std::string name() { return "adam"; }

  T step_size;
  T root_correction;
  T beta1;
  T beta2;
  T rest1;  // 1 - beta1
  T rest2;
  T epsilon;
  T added;  // weight decay, times the value, to the gradient
  T kept;   // of the value

  RONDO_EVERYWHERE void operator()(std::size_t i, T* value, const T* gradient, T* mean,
                                   T* square) const {
    const T g = gradient[i] + added * value[i];
    mean[i] = beta1 * mean[i] + rest1 * g;
    square[i] = beta2 * square[i] + rest2 * g * g;
    const T root = std::sqrt(square[i]) / root_correction + epsilon;
    value[i] = kept * value[i] - step_size * mean[i] / root;
  }
};

template <class T>
struct RmspropUpdate {
  using Element = T;
  static std::string name() { return "rmsprop"; }

  T rate;
  T decay;
  T alpha;
  T rest;  // 1 - alpha
  T epsilon;
  T momentum;

  /// `mean` is null unless centered, `velocity` without momentum.
  RONDO_EVERYWHERE void operator()(std::size_t i, T* value, const T* gradient, T* square, T* mean,
                                   T* velocity) const {
    const T g = gradient[i] + decay * value[i];
    square[i] = alpha * square[i] + rest * g * g;
    T variance = square[i];
    if (mean != nullptr) {
      mean[i] = alpha * mean[i] + rest * g;
      variance -= mean[i] * mean[i];
      if (variance < T{0}) variance = T{0};  // by rounding
    }
    const T direction = g / (std::sqrt(variance) + epsilon);
    if (velocity == nullptr) {
      value[i] -= rate * direction;
    } else {
      velocity[i] = momentum * velocity[i] + direction;
      value[i] -= rate * velocity[i];
    }
  }
};

}  // namespace rondo::train
