#pragma once

#include <cmath>

namespace rondo::train {

/// The logistic function.
template <class T>
T sigmoid(T x) {
  return T{1} / (T{1} + std::exp(-x));
}

}  // namespace rondo::train
