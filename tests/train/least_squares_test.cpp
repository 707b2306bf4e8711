#include <rondo/train/least_squares.hpp>

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

TEST(LeastSquares, FindsTheWeightsThatMadeTheTargets) {
  for (const int ranks : {1, 2, 3, 5})
    run_communicators(ranks, [](Communicator& communicator) {
      Dataset data = random_data(1000, 3);
      for (std::size_t i = 0; i < data.samples(); ++i)
        data.targets[i] = 2 * data.row(i)[0] - data.row(i)[1] + 0.5 * data.row(i)[2] - 7;
      const auto weights = least_squares(communicator, data, first_samples(1000));
      ASSERT_EQ(weights.size(), 4U);
      EXPECT_NEAR(weights[0], 2, 1e-8);
      EXPECT_NEAR(weights[1], -1, 1e-8);
      EXPECT_NEAR(weights[2], 0.5, 1e-8);
      EXPECT_NEAR(weights[3], -7, 1e-5);
    });
}

TEST(LeastSquares, LeavesResidualsOrthogonalToTheFeatures) {
  run_communicators(2, [](Communicator& communicator) {
    const Dataset data = random_data(777, 5);
    const auto samples = first_samples(500);
    const auto weights = least_squares(communicator, data, samples);
    std::vector<double> products(6);
    for (const std::size_t sample : samples) {
      double residual = data.targets[sample] - weights[5];
      for (std::size_t i = 0; i < 5; ++i) residual -= weights[i] * data.row(sample)[i];
      for (std::size_t i = 0; i < 5; ++i) products[i] += residual * data.row(sample)[i];
      products[5] += residual;
    }
    for (const double product : products) EXPECT_NEAR(product, 0, 1e-4);
  });
}

void expect_dependent(const Dataset& data, const std::vector<std::string>& parts) {
  const auto errors = errors_of_communicators(3, [&](Communicator& communicator) {
    least_squares(communicator, data, first_samples(data.samples()));
  });
  for (const std::exception_ptr& error : errors) {
    ASSERT_NE(error, nullptr);
    expect_error(ErrorCode::usage, parts, [&] { std::rethrow_exception(error); });
  }
}

TEST(LeastSquares, NamesAColumnThatOthersGiveHoweverItWasRounded) {
  for (const double factor : {0.1, 0.3, 0.7, 1.1, 1.3, 1.7}) {
    Dataset data = random_data(300, 3);
    for (std::size_t i = 0; i < 300; ++i) {
      data.row(i)[1] -= 100;
      data.row(i)[2] = factor * (data.row(i)[0] + data.row(i)[1]);
    }
    expect_dependent(data, {"not unique", "x"});
  }
}

TEST(LeastSquares, NamesColumnsWhenThereAreTooFewSamples) {
  expect_dependent(random_data(2, 4), {"not unique", "x"});
}

TEST(RelativeDistance, IsMeasuredAgainstTheSecond) {
  const std::vector<double> a{3, 4};
  const std::vector<double> b{3, 0};
  EXPECT_DOUBLE_EQ(relative_distance(a, b), 4.0 / 3.0);
  EXPECT_EQ(relative_distance(a, a), 0);
  EXPECT_EQ(relative_distance(std::vector<double>{0}, std::vector<double>{0}), 0);
  expect_error(ErrorCode::usage, {"2 and 1"},
               [&] { relative_distance(a, std::vector<double>{1}); });
}

}  // namespace
}  // namespace rondo::train
