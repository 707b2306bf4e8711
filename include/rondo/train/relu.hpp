#pragma once

#include <rondo/train/activation.hpp>

namespace rondo::train {

namespace detail {
struct ReluFunction;
}  // namespace detail

/// Rectified linear unit (Nair & Hinton, 2010): y = max(0, x). Its derivative at 0 is taken as 0.
/// Not a number stays not a number.
template <class T>
using Relu = Activation<T, detail::ReluFunction>;

extern template class Activation<float, detail::ReluFunction>;
extern template class Activation<double, detail::ReluFunction>;

}  // namespace rondo::train
