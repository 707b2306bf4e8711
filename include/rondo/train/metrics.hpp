#pragma once

#include <cstdint>

#include <rondo/communicator.hpp>

namespace rondo::train {

/// How well predictions meet their targets.
struct RegressionScore {
  std::uint64_t samples = 0;
  double r2 = 0;  ///< 1 - Σ(target - prediction)² / Σ(target - mean)²; NaN for constant targets
  double rmse = 0;  ///< √(Σ(target - prediction)² / samples), in the target's units
};

/// Collects predictions, each sample on one rank only, and scores them across the ranks. Exact
/// however the samples lie: the ranks' sums are merged, not their scores.
class RegressionMetrics {
 public:
  void add(double prediction, double target);

  /// The score of everything that all ranks added; the same bits on all. Collective. Throws
  /// Error(usage) when no rank added anything.
  RegressionScore score(Communicator& communicator) const;

 private:
  double count_ = 0;
  double squared_error_ = 0;
  double mean_ = 0;       // of the targets
  double deviation_ = 0;  // Σ(target - mean)²
};

}  // namespace rondo::train
