#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <rondo/train/csv.hpp>

namespace rondo {
class Communicator;
}

namespace rondo::train {

/// Samples as numbers: one row of features and one target each. A gap that a policy left is NaN.
struct Dataset {
  std::vector<std::string> feature_names;
  std::string target_name;
  std::vector<double> features;  ///< row-major, samples() × feature_names.size()
  std::vector<double> targets;   ///< one a sample

  std::size_t samples() const { return targets.size(); }
  std::size_t width() const { return feature_names.size(); }
  std::span<const double> row(std::size_t sample) const {
    return std::span(features).subspan(sample * width(), width());
  }
  std::span<double> row(std::size_t sample) {
    return std::span(features).subspan(sample * width(), width());
  }

  /// Leaves out the features i with keep[i] false.
  void select(const std::vector<bool>& keep);

  /// A number that two datasets share only if names and values are the same, bit for bit (FNV-1a,
  /// 64 bits).
  std::uint64_t fingerprint() const;
};

/// Makes `target` (a numeric column) the target and every other column features. A categorical
/// column becomes one feature "column=level" of 0 and 1 for each of its levels but the first: with
/// all of them, their sum would be the intercept, and the normal equations singular. A missing
/// category gives NaN in all of them. Rows without a target are left out, since a target that was
/// filled in teaches nothing.
///
/// Throws Error(usage) naming the columns there are when `target` is not one of them, is
/// categorical, or is the only one.
Dataset make_dataset(const Table& table, const std::string& target);

/// Every rank reads the data by itself; throws Error(mismatch) on all, naming the first that has
/// not what rank 0 has. Collective.
void check_same_data(Communicator& communicator, const Dataset& data);

/// Sample numbers for training and for testing, each ascending.
struct Split {
  std::vector<std::size_t> train;
  std::vector<std::size_t> test;
};

/// Draws round(samples · test_fraction) samples for testing; the same ones on any number of ranks.
/// Throws Error(usage) unless 0 ≤ test_fraction < 1 and at least one sample is left for training.
Split split(std::size_t samples, double test_fraction, std::uint64_t seed);

}  // namespace rondo::train
