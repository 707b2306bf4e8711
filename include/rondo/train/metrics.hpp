#pragma once

#include <cstdint>
#include <span>

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

/// How well classes are told apart.
struct ClassificationScore {
  std::uint64_t samples = 0;
  double accuracy = 0;  ///< the part whose largest logit (the first of equals) is their class's
  double cross_entropy = 0;  ///< mean over the samples
};

/// Collects logits, each sample on one rank only, and scores them across the ranks, as
/// RegressionMetrics does.
class ClassificationMetrics {
 public:
  /// One sample: a logit for each class, and its class. Throws Error(usage) when there is no such
  /// class. T is float or double.
  template <class T>
  void add(std::span<const T> logits, std::uint32_t label);

  /// The score of everything that all ranks added; the same bits on all. Collective. Throws
  /// Error(usage) when no rank added anything.
  ClassificationScore score(Communicator& communicator) const;

 private:
  double count_ = 0;
  double right_ = 0;
  double cross_entropy_ = 0;
};

extern template void ClassificationMetrics::add(std::span<const float>, std::uint32_t);
extern template void ClassificationMetrics::add(std::span<const double>, std::uint32_t);

}  // namespace rondo::train
