#include <rondo/train/evaluate.hpp>

#include <cmath>

#include <gtest/gtest.h>

#include <rondo/train/linear.hpp>

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

TEST(RegressionMetrics, AreThoseOfAllSamplesHoweverTheyLie) {
  const std::vector<double> targets{1, 2, 4, 9, 1e6};
  for (const int ranks : {1, 2, 3, 8})
    run_communicators(ranks, [&](Communicator& communicator) {
      RegressionMetrics metrics;
      for (std::size_t i = communicator.rank(); i < targets.size(); i += communicator.size())
        metrics.add(targets[i] + (i == 0 ? 3 : 0), targets[i]);
      const RegressionScore score = metrics.score(communicator);
      EXPECT_EQ(score.samples, 5U);
      EXPECT_NEAR(score.rmse, std::sqrt(9.0 / 5), 1e-12);
      EXPECT_NEAR(score.r2, 1 - 9 / 799993600081.2, 1e-15);
    });
}

TEST(RegressionMetrics, KeepTheirDigitsWhenTargetsAreFarFromZero) {
  run_communicators(2, [](Communicator& communicator) {
    RegressionMetrics metrics;
    const double target = 1e9 + communicator.rank();
    metrics.add(target + 0.25, target);
    EXPECT_DOUBLE_EQ(metrics.score(communicator).r2, 1 - 0.125 / 0.5);
  });
}

TEST(RegressionMetrics, HaveNoR2WhenTargetsAreAlike) {
  run_communicators(2, [](Communicator& communicator) {
    RegressionMetrics metrics;
    metrics.add(1, 2);
    EXPECT_TRUE(std::isnan(metrics.score(communicator).r2));
  });
}

TEST(RegressionMetrics, RefuseToScoreNothing) {
  for (const std::exception_ptr& error : errors_of_communicators(
           2, [](Communicator& communicator) { RegressionMetrics().score(communicator); })) {
    ASSERT_NE(error, nullptr);
    expect_error(ErrorCode::usage, {"no samples"}, [&] { std::rethrow_exception(error); });
  }
}

TEST(Evaluate, CountsEachSampleOnce) {
  constexpr std::size_t kSamples = 2501;  // more than is evaluated at once
  for (const int ranks : {1, 2, 3})
    run_communicators(ranks, [&](Communicator& communicator) {
      const Dataset data = random_data(kSamples + 10, 2);
      Linear<double> model("linear", 2, 1);
      model.weight().value()[0] = 1;
      model.weight().value()[1] = 0.5;
      double squares = 0;
      for (std::size_t i = 0; i < kSamples; ++i) {
        const double error = data.targets[i] - data.row(i)[0] - 0.5 * data.row(i)[1];
        squares += error * error;
      }
      const auto score = evaluate<double>(communicator, model, data, first_samples(kSamples));
      EXPECT_EQ(score.samples, kSamples);
      EXPECT_NEAR(score.rmse, std::sqrt(squares / kSamples), 1e-10);
    });
}

}  // namespace
}  // namespace rondo::train
