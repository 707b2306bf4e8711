#include <rondo/train/standardize.hpp>

#include <cmath>

#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/random_data.hpp"
#include "support/thread_communicators.hpp"

namespace rondo::train {
namespace {

using rondo::testing::errors_of_communicators;
using rondo::testing::expect_error;
using rondo::testing::first_samples;
using rondo::testing::random_data;
using rondo::testing::run_communicators;

const double kGap = std::nan("");
constexpr int kRanks[] = {1, 2, 3, 5};

TEST(Standardize, GivesMeanZeroAndDeviationOneOnAnyNumberOfRanks) {
  for (const int ranks : kRanks)
    run_communicators(ranks, [](Communicator& communicator) {
      Dataset data = random_data(103, 4);
      const Dataset before = data;
      const auto training = first_samples(80);
      const Standardization scale = standardize(communicator, data, training);
      for (std::size_t i = 0; i < 4; ++i) {
        double sum = 0;
        double squares = 0;
        for (const std::size_t sample : training) {
          sum += data.row(sample)[i];
          squares += data.row(sample)[i] * data.row(sample)[i];
        }
        EXPECT_NEAR(sum / 80, 0, 1e-12);
        EXPECT_NEAR(squares / 80, 1, 1e-12);
        EXPECT_NEAR(data.row(100)[i] * scale.deviations[i] + scale.means[i], before.row(100)[i],
                    1e-10);
      }
      EXPECT_NEAR(data.targets[90] * scale.target_deviation + scale.target_mean, before.targets[90],
                  1e-10);
    });
}

TEST(Standardize, WorksWithFewerSamplesThanRanks) {
  run_communicators(5, [](Communicator& communicator) {
    Dataset data = random_data(2, 1);
    standardize(communicator, data, first_samples(2));
    EXPECT_NEAR(std::abs(data.targets[0]), 1, 1e-12);
    EXPECT_NEAR(data.targets[0], -data.targets[1], 1e-12);
  });
}

TEST(Standardize, KeepsItsDigitsWhenTheMeanIsLarge) {
  run_communicators(3, [](Communicator& communicator) {
    Dataset data = random_data(99, 1);
    for (double& value : data.features) value += 1e9;
    const Standardization scale = standardize(communicator, data, first_samples(99));
    EXPECT_NEAR(scale.deviations[0], 1, 0.2);
  });
}

TEST(Standardize, FillsGapsWithTheMeanOfTheTrainingSamples) {
  for (const int ranks : kRanks)
    run_communicators(ranks, [](Communicator& communicator) {
      Dataset data{{"x"}, "y", {1, kGap, 3, 1000, kGap}, {1, 2, 3, 4, 5}};
      const Standardization scale = standardize(communicator, data, first_samples(3));
      EXPECT_DOUBLE_EQ(scale.means[0], 2);
      EXPECT_DOUBLE_EQ(scale.deviations[0], std::sqrt(2.0 / 3.0));
      EXPECT_EQ(data.features[1], 0);
      EXPECT_EQ(data.features[4], 0);
    });
}

TEST(Standardize, DropsFeaturesThatAreConstantOrAbsentInTraining) {
  for (const int ranks : kRanks)
    run_communicators(ranks, [](Communicator& communicator) {
      Dataset data{
          {"c", "x", "g"}, "y", {0.1, 1, kGap, 0.1, 2, kGap, 0.1, 4, kGap, 7, 8, 9}, {1, 2, 3, 4}};
      const Standardization scale = standardize(communicator, data, first_samples(3));
      EXPECT_EQ(scale.dropped, (std::vector<std::string>{"c", "g"}));
      EXPECT_EQ(data.feature_names, (std::vector<std::string>{"x"}));
      EXPECT_EQ(data.features.size(), 4U);
      EXPECT_EQ(scale.means.size(), 1U);
    });
}

void expect_refused_on_all_ranks(const Dataset& original, const std::string& part) {
  const auto errors = errors_of_communicators(3, [&](Communicator& communicator) {
    Dataset data = original;
    standardize(communicator, data, first_samples(data.samples()));
  });
  for (const std::exception_ptr& error : errors) {
    ASSERT_NE(error, nullptr);
    expect_error(ErrorCode::usage, {part}, [&] { std::rethrow_exception(error); });
  }
}

TEST(Standardize, RefusesDataThatTeachNothing) {
  expect_refused_on_all_ranks({{"x"}, "y", {1, 2, 3}, {5, 5, 5}}, "target 'y' has the same value");
  expect_refused_on_all_ranks({{"x"}, "y", {2, 2, 2}, {5, 6, 7}}, "no feature");
}

TEST(Standardize, RefusesValuesWhoseSquaresOverflow) {
  expect_refused_on_all_ranks({{"x"}, "y", {1e200, -1e200, 3}, {5, 6, 7}}, "'x' are too large");
  expect_refused_on_all_ranks({{"x"}, "y", {1, 2, 3}, {1e308, 1e308, 7}}, "'y' are too large");
}

}  // namespace
}  // namespace rondo::train
