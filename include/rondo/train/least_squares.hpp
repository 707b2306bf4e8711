#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <rondo/communicator.hpp>
#include <rondo/train/dataset.hpp>

namespace rondo::train {

/// The weights, one a feature and then the intercept, that minimise the squared error over
/// `samples`: the normal equations, whose sums are shared among the ranks and added in float64,
/// solved by a pivoted Cholesky factorisation (LAPACK's dpstrf).
///
/// Collective: all ranks hold the same `data` and `samples`, and get the same bits. Throws
/// Error(usage) naming the columns that are linear combinations of others, if there are any: a
/// pivot fell below 1e-11 of the largest diagonal element, so the features should be standardised.
std::vector<double> least_squares(Communicator& communicator, const Dataset& data,
                                  std::span<const std::size_t> samples);

/// ‖a - b‖ / ‖b‖ (2-norms); 0 when they are equal, whatever ‖b‖.
double relative_distance(std::span<const double> a, std::span<const double> b);

}  // namespace rondo::train
