#pragma once

#include <rondo/train/activation.hpp>

namespace rondo::train {

namespace detail {
struct TanhFunction;
}  // namespace detail

/// Hyperbolic tangent: y = tanh(x), y' = 1 - y².
template <class T>
using Tanh = Activation<T, detail::TanhFunction>;

extern template class Activation<float, detail::TanhFunction>;
extern template class Activation<double, detail::TanhFunction>;

}  // namespace rondo::train
