#include <rondo/train/dataset.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <string_view>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <rondo/error.hpp>
#include <rondo/train/permutation.hpp>

#include "core/digest.hpp"
#include "train/same_data.hpp"

namespace rondo::train {
namespace {

const Column& find_target(const Table& table, const std::string& target) {
  const auto found = std::ranges::find(table.columns, target, &Column::name);
  if (found == table.columns.end()) {
    std::vector<std::string_view> names;
    for (const Column& column : table.columns) names.push_back(column.name);
    throw Error(ErrorCode::usage, fmt::format("'{}' has no column '{}'; its columns are {}",
                                              table.source, target, fmt::join(names, ", ")));
  }
  if (found->categorical)
    throw Error(ErrorCode::usage,
                fmt::format("the target '{}' of '{}' is categorical, but must be numbers", target,
                            table.source));
  if (table.columns.size() < 2)
    throw Error(ErrorCode::usage,
                fmt::format("'{}' has no column beside the target '{}'", table.source, target));
  return *found;
}

std::vector<std::string> name_features(const Table& table, const Column& target) {
  std::vector<std::string> names;
  for (const Column& column : table.columns) {
    if (&column == &target) continue;
    if (!column.categorical) names.push_back(column.name);
    for (std::size_t level = 1; level < column.levels.size(); ++level)
      names.push_back(fmt::format("{}={}", column.name, column.levels[level]));
  }
  return names;
}

void append_features(const Column& column, std::size_t row, std::vector<double>& features) {
  if (!column.categorical) {
    features.push_back(column.numbers[row]);
    return;
  }
  const int code = column.codes[row];
  for (int level = 1; level < static_cast<int>(column.levels.size()); ++level)
    features.push_back(code < 0 ? std::nan("") : code == level ? 1.0 : 0.0);
}

}  // namespace

void Dataset::select(const std::vector<bool>& keep) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < width(); ++i)
    if (keep[i]) names.push_back(feature_names[i]);
  std::vector<double> kept;
  kept.reserve(samples() * names.size());
  for (std::size_t i = 0; i < features.size(); ++i)
    if (keep[i % width()]) kept.push_back(features[i]);
  feature_names = std::move(names);
  features = std::move(kept);
}

std::uint64_t Dataset::fingerprint() const {
  core::Digest hash;
  hash.add(target_name);
  for (const std::string& name : feature_names) hash.add(name);
  for (const double value : features) hash.add(std::bit_cast<std::uint64_t>(value));
  for (const double value : targets) hash.add(std::bit_cast<std::uint64_t>(value));
  return hash.value();
}

Dataset make_dataset(const Table& table, const std::string& target) {
  const Column& target_column = find_target(table, target);
  Dataset data{name_features(table, target_column), target, {}, {}};
  data.features.reserve(table.rows * data.width());
  for (std::size_t row = 0; row < table.rows; ++row) {
    const double value = target_column.numbers[row];
    if (std::isnan(value)) continue;
    data.targets.push_back(value);
    for (const Column& column : table.columns)
      if (&column != &target_column) append_features(column, row, data.features);
  }
  return data;
}

void check_same_data(Communicator& communicator, const Dataset& data) {
  check_same_fingerprint(communicator, data.fingerprint());
}

Split split(std::size_t samples, double test_fraction, std::uint64_t seed) {
  if (!(test_fraction >= 0 && test_fraction < 1))
    throw Error(ErrorCode::usage,
                fmt::format("the test fraction must be in [0, 1), not {}", test_fraction));
  const auto tests =
      static_cast<std::size_t>(std::llround(static_cast<double>(samples) * test_fraction));
  if (tests >= samples)
    throw Error(ErrorCode::usage,
                fmt::format("{} samples leave none for training with test fraction {}", samples,
                            test_fraction));
  // A stream of its own, so that no epoch's order is related to it.
  constexpr std::uint64_t kSplitStream = ~std::uint64_t{0};
  const std::vector<std::size_t> order = permutation(samples, seed, kSplitStream);
  Split parts{{order.begin(), order.end() - tests}, {order.end() - tests, order.end()}};
  std::ranges::sort(parts.train);
  std::ranges::sort(parts.test);
  return parts;
}

}  // namespace rondo::train
