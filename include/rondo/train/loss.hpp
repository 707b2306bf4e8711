#pragma once

#include <span>

#include <rondo/train/compute.hpp>

namespace rondo::train {

/// The sum of (prediction - target)² over all elements, added up in double: what PyTorch calls
/// MSELoss(reduction='sum'). Writes its gradient, 2·(prediction - target), to `gradient` unless
/// that is empty. The mean over the samples of all ranks comes later: the reducer divides gradients
/// by the number of samples. Everything lies in `place`. Throws Error(usage) when sizes differ. T
/// is float or double.
template <class T>
double squared_error(std::span<const T> prediction, std::span<const T> target,
                     std::span<T> gradient = {}, Compute& place = Compute::host());

extern template double squared_error(std::span<const float>, std::span<const float>,
                                     std::span<float>, Compute&);
extern template double squared_error(std::span<const double>, std::span<const double>,
                                     std::span<double>, Compute&);

}  // namespace rondo::train
