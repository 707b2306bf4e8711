#pragma once

#include <rondo/train/activation.hpp>

namespace rondo::train {

namespace detail {
struct GeluFunction;
}  // namespace detail

/// Gaussian error linear unit (Hendrycks & Gimpel, 2016) in its exact form, PyTorch's
/// GELU(approximate="none"):
///   y = x·Φ(x),  y' = Φ(x) + x·φ(x),  Φ(x) = (1 + erf(x/√2))/2,  φ(x) = exp(-x²/2)/√(2π)
template <class T>
using Gelu = Activation<T, detail::GeluFunction>;

extern template class Activation<float, detail::GeluFunction>;
extern template class Activation<double, detail::GeluFunction>;

}  // namespace rondo::train
