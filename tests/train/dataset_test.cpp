#include <rondo/train/dataset.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/thread_communicators.hpp"

namespace rondo::train {
namespace {

using rondo::testing::errors_of_communicators;
using rondo::testing::expect_error;

const double kGap = std::nan("");

Table small_table() {
  return {.source = "t.csv",
          .rows = 3,
          .columns = {{"x", false, {1, 2, 3}, {}, {}},
                      {"k", true, {}, {2, 0, 1}, {"a", "b", "c"}},
                      {"y", false, {10, 20, 30}, {}, {}}}};
}

TEST(Dataset, LeavesOutTheFirstLevelOfACategory) {
  const Dataset data = make_dataset(small_table(), "y");
  EXPECT_EQ(data.feature_names, (std::vector<std::string>{"x", "k=b", "k=c"}));
  EXPECT_EQ(data.features, (std::vector<double>{1, 0, 1, 2, 0, 0, 3, 1, 0}));
  EXPECT_EQ(data.targets, (std::vector<double>{10, 20, 30}));
}

TEST(Dataset, GivesAMissingCategoryAGapInEachOfItsFeatures) {
  Table table = small_table();
  table.columns[1].codes[1] = -1;
  const Dataset data = make_dataset(table, "y");
  EXPECT_EQ(data.row(1)[0], 2);
  EXPECT_TRUE(std::isnan(data.row(1)[1]) && std::isnan(data.row(1)[2]));
}

TEST(Dataset, LeavesOutRowsWithoutATarget) {
  Table table = small_table();
  table.columns[2].numbers[1] = kGap;
  const Dataset data = make_dataset(table, "y");
  EXPECT_EQ(data.targets, (std::vector<double>{10, 30}));
  EXPECT_EQ(data.features, (std::vector<double>{1, 0, 1, 3, 1, 0}));
}

TEST(Dataset, RefusesATargetThatCannotBeOne) {
  expect_error(ErrorCode::usage, {"no column 'z'", "x, k, y"},
               [] { make_dataset(small_table(), "z"); });
  expect_error(ErrorCode::usage, {"'k'", "categorical"}, [] { make_dataset(small_table(), "k"); });
  Table table = small_table();
  table.columns = {table.columns[0]};
  expect_error(ErrorCode::usage, {"no column beside"}, [&] { make_dataset(table, "x"); });
}

TEST(Dataset, SelectsFeatures) {
  Dataset data = make_dataset(small_table(), "y");
  data.select({true, false, true});
  EXPECT_EQ(data.feature_names, (std::vector<std::string>{"x", "k=c"}));
  EXPECT_EQ(data.features, (std::vector<double>{1, 1, 2, 0, 3, 0}));
}

TEST(Dataset, HasAnotherFingerprintWhenAnythingDiffers) {
  const Dataset data = make_dataset(small_table(), "y");
  std::vector<Dataset> others(4, data);
  others[0].features[4] = std::nextafter(others[0].features[4], 1);
  others[1].targets[2] = -30;
  others[2].feature_names[0] = "z";
  others[3].target_name = "z";
  EXPECT_EQ(data.fingerprint(), make_dataset(small_table(), "y").fingerprint());
  for (const Dataset& other : others) EXPECT_NE(other.fingerprint(), data.fingerprint());
}

TEST(Dataset, MustBeTheSameOnAllRanks) {
  const auto errors = errors_of_communicators(3, [](Communicator& communicator) {
    Dataset data = make_dataset(small_table(), "y");
    check_same_data(communicator, data);
    if (communicator.rank() == 2) data.targets[0] += 1;
    check_same_data(communicator, data);
  });
  for (const std::exception_ptr& error : errors) {
    ASSERT_NE(error, nullptr);
    expect_error(ErrorCode::mismatch, {"rank 2", "differs from rank 0"},
                 [&] { std::rethrow_exception(error); });
  }
}

TEST(Split, PutsEverySampleInOnePart) {
  const Split parts = split(1001, 0.25, 3);
  EXPECT_EQ(parts.test.size(), 250U);
  std::vector<std::size_t> both = parts.train;
  both.insert(both.end(), parts.test.begin(), parts.test.end());
  std::ranges::sort(both);
  std::vector<std::size_t> all(1001);
  std::iota(all.begin(), all.end(), std::size_t{0});
  EXPECT_EQ(both, all);
  EXPECT_TRUE(std::ranges::is_sorted(parts.train));
  EXPECT_TRUE(std::ranges::is_sorted(parts.test));
}

TEST(Split, DependsOnTheSeed) {
  EXPECT_EQ(split(100, 0.2, 1).test, split(100, 0.2, 1).test);
  EXPECT_NE(split(100, 0.2, 1).test, split(100, 0.2, 2).test);
}

TEST(Split, MayKeepNothingForTheTest) { EXPECT_TRUE(split(10, 0, 1).test.empty()); }

TEST(Split, RefusesToLeaveNothingForTraining) {
  for (const double fraction : {-0.1, 1.0, kGap})
    expect_error(ErrorCode::usage, {"test fraction"}, [&] { split(10, fraction, 1); });
  expect_error(ErrorCode::usage, {"none for training"}, [] { split(1, 0.6, 1); });
  expect_error(ErrorCode::usage, {"none for training"}, [] { split(0, 0.5, 1); });
}

}  // namespace
}  // namespace rondo::train
