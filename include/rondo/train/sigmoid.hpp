#pragma once

#include <rondo/train/activation.hpp>

namespace rondo::train {

namespace detail {
struct SigmoidFunction;
}  // namespace detail

/// Logistic function: y = 1/(1 + exp(-x)), y' = y·(1 - y).
template <class T>
using Sigmoid = Activation<T, detail::SigmoidFunction>;

extern template class Activation<float, detail::SigmoidFunction>;
extern template class Activation<double, detail::SigmoidFunction>;

}  // namespace rondo::train
