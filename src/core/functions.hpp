#pragma once

#include <cstddef>

namespace rondo::core {

// Functions of arrays, good to a few units in the last place. An element's bits don't depend on its
// place. NaN gives NaN. The arrays may be the same. T is float or double.

/// The logistic function.
template <class T>
void sigmoid(const T* from, T* to, std::size_t count);

/// The hyperbolic tangent.
template <class T>
void tanh(const T* from, T* to, std::size_t count);

}  // namespace rondo::core
