#include <rondo/train/standardize.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <rondo/error.hpp>
#include <rondo/train/agree.hpp>

#include "core/log.hpp"

namespace rondo::train {
namespace {

/// Of each column, the target being the last; gaps are not counted.
struct Statistics {
  std::vector<double> means;
  std::vector<double> deviations;
  std::vector<bool> varies;
};

/// This rank's part of the samples, and a column's value in one of them.
class Share {
 public:
  Share(const Communicator& communicator, const Dataset& data, std::span<const std::size_t> samples)
      : data_(data), samples_(samples), first_(communicator.rank()), stride_(communicator.size()) {}

  /// Calls visit(column, value) for every value that is not missing.
  template <class Visit>
  void for_each(Visit visit) const {
    for (std::size_t i = first_; i < samples_.size(); i += stride_) {
      const std::span<const double> row = data_.row(samples_[i]);
      for (std::size_t column = 0; column < row.size(); ++column)
        if (!std::isnan(row[column])) visit(column, row[column]);
      visit(row.size(), data_.targets[samples_[i]]);
    }
  }

 private:
  const Dataset& data_;
  std::span<const std::size_t> samples_;
  std::size_t first_;
  std::size_t stride_;
};

/// A column varies if its extremes differ: unlike a deviation, that is exact.
std::vector<bool> find_varying(Communicator& communicator, const Share& share,
                               std::size_t columns) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<double> extremes(2 * columns, kInfinity);  // minima, negated maxima
  share.for_each([&](std::size_t column, double value) {
    extremes[column] = std::min(extremes[column], value);
    extremes[columns + column] = std::min(extremes[columns + column], -value);
  });
  communicator.allreduce(std::span(extremes), ReduceOp::min);
  std::vector<bool> varies(columns);
  for (std::size_t i = 0; i < columns; ++i) varies[i] = extremes[i] < -extremes[columns + i];
  return varies;
}

std::vector<double> find_means(Communicator& communicator, const Share& share,
                               std::size_t columns) {
  std::vector<double> sums(2 * columns);  // of the values, then their number
  share.for_each([&](std::size_t column, double value) {
    sums[column] += value;
    sums[columns + column] += 1;
  });
  communicator.allreduce(std::span(sums), ReduceOp::sum);
  for (std::size_t i = 0; i < columns; ++i) sums[i] /= std::max(sums[columns + i], 1.0);
  sums.resize(columns);
  return sums;
}

/// Gaps will be filled with the mean, so they add nothing to the squares but count as samples.
std::vector<double> find_deviations(Communicator& communicator, const Share& share,
                                    const std::vector<double>& means, std::size_t samples) {
  std::vector<double> squares(means.size());
  share.for_each([&](std::size_t column, double value) {
    const double difference = value - means[column];
    squares[column] += difference * difference;
  });
  communicator.allreduce(std::span(squares), ReduceOp::sum);
  for (double& square : squares) square = std::sqrt(square / static_cast<double>(samples));
  return squares;
}

void check(const Statistics& statistics, const Dataset& data) {
  if (!statistics.varies.back())
    throw Error(ErrorCode::usage,
                fmt::format("the target '{}' has the same value in all training samples, so there "
                            "is nothing to learn",
                            data.target_name));
  if (std::ranges::count(statistics.varies, true) < 2)
    throw Error(ErrorCode::usage, "no feature has two different values in the training samples");
  for (std::size_t i = 0; i < statistics.varies.size(); ++i)
    if (statistics.varies[i] &&
        !(std::isnormal(statistics.deviations[i]) && std::isfinite(statistics.means[i])))
      throw Error(ErrorCode::usage,
                  fmt::format("the values of column '{}' are too large or too close together to be "
                              "standardised; rescale them",
                              i < data.width() ? data.feature_names[i] : data.target_name));
}

/// Removes the features that do not vary from data and statistics; returns their names.
std::vector<std::string> drop_constant(Dataset& data, Statistics& statistics) {
  std::vector<std::string> dropped;
  std::vector<double> means;
  std::vector<double> deviations;
  for (std::size_t i = 0; i < statistics.varies.size(); ++i) {
    if (statistics.varies[i]) {
      means.push_back(statistics.means[i]);
      deviations.push_back(statistics.deviations[i]);
    } else {
      dropped.push_back(data.feature_names[i]);
    }
  }
  if (!dropped.empty()) data.select(statistics.varies);
  statistics.means = std::move(means);
  statistics.deviations = std::move(deviations);
  return dropped;
}

void apply(const Statistics& statistics, Dataset& data) {
  for (std::size_t sample = 0; sample < data.samples(); ++sample) {
    const std::span<double> row = data.row(sample);
    for (std::size_t i = 0; i < row.size(); ++i)
      row[i] = std::isnan(row[i]) ? 0.0 : (row[i] - statistics.means[i]) / statistics.deviations[i];
    data.targets[sample] =
        (data.targets[sample] - statistics.means.back()) / statistics.deviations.back();
  }
}

}  // namespace

Standardization standardize(Communicator& communicator, Dataset& data,
                            std::span<const std::size_t> training) {
  const std::size_t columns = data.width() + 1;
  const Share share(communicator, data, training);
  Statistics statistics;
  statistics.varies = find_varying(communicator, share, columns);
  statistics.means = find_means(communicator, share, columns);
  statistics.deviations = find_deviations(communicator, share, statistics.means, training.size());
  agree(communicator, [&] { check(statistics, data); });

  Standardization done;
  done.dropped = drop_constant(data, statistics);
  if (!done.dropped.empty() && communicator.rank() == 0)
    core::log(core::LogLevel::warning,
              fmt::format("dropped {}: the same value in every training sample",
                          fmt::join(done.dropped, ", ")));
  apply(statistics, data);
  done.target_mean = statistics.means.back();
  done.target_deviation = statistics.deviations.back();
  statistics.means.pop_back();
  statistics.deviations.pop_back();
  done.means = std::move(statistics.means);
  done.deviations = std::move(statistics.deviations);
  return done;
}

}  // namespace rondo::train
