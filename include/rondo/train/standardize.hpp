#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <rondo/communicator.hpp>
#include <rondo/train/dataset.hpp>

namespace rondo::train {

/// What standardize() did: value = (original - mean) / deviation.
struct Standardization {
  std::vector<std::string> dropped;  ///< features without two different values in training
  std::vector<double> means;         ///< of the features that are left
  std::vector<double> deviations;
  double target_mean = 0;
  double target_deviation = 1;
};

/// Gives every feature and the target mean 0 and standard deviation 1 (dividing by n) over the
/// `training` samples, whose sums are shared among the ranks and added in float64, in two passes
/// (Chan, Golub & LeVeque, 1983). Gaps become the mean of the training samples. Features that are
/// constant, or missing throughout, in training are dropped; rank 0 logs a warning that names them.
///
/// Collective: all ranks hold the same `data` and `training`. Throws Error(usage) when the target
/// or every feature is constant, or values are so large that their squares overflow.
Standardization standardize(Communicator& communicator, Dataset& data,
                            std::span<const std::size_t> training);

}  // namespace rondo::train
