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

TEST(ClassificationMetrics, AreThoseOfAllSamplesHoweverTheyLie) {
  const std::vector<std::vector<double>> logits{
      {0, 1, 2}, {3, 0, 0}, {1, 1, 0}, {0, 5, 0}, {9, 0, 0}};
  const std::vector<std::uint32_t> labels{2, 1, 0, 1, 2};  // right: all but those at 1 and 4
  double loss = 0;
  for (std::size_t i = 0; i < 5; ++i)
    loss += std::log(std::exp(logits[i][0]) + std::exp(logits[i][1]) + std::exp(logits[i][2])) -
            logits[i][labels[i]];
  for (const int ranks : {1, 2, 3, 8})
    run_communicators(ranks, [&](Communicator& communicator) {
      ClassificationMetrics metrics;
      for (std::size_t i = communicator.rank(); i < labels.size(); i += communicator.size())
        metrics.add<double>(logits[i], labels[i]);
      const ClassificationScore score = metrics.score(communicator);
      EXPECT_EQ(score.samples, 5U);
      EXPECT_EQ(score.accuracy, 0.6);
      EXPECT_NEAR(score.cross_entropy, loss / 5, 1e-14);
    });
}

TEST(ClassificationMetrics, RefuseToScoreNothing) {
  for (const std::exception_ptr& error : errors_of_communicators(
           2, [](Communicator& communicator) { ClassificationMetrics().score(communicator); })) {
    ASSERT_NE(error, nullptr);
    expect_error(ErrorCode::usage, {"no samples"}, [&] { std::rethrow_exception(error); });
  }
}

/// One feature a sample: its number modulo 3. That is its class, too, but for every fifth sample.
LabelledData thirds(std::size_t samples) {
  LabelledData data{{1}, {}, {}, 1.0};
  for (std::size_t i = 0; i < samples; ++i) {
    data.features.push_back(static_cast<std::uint8_t>(i % 3));
    data.labels.push_back(static_cast<std::uint8_t>(i % 5 == 0 ? (i + 1) % 3 : i % 3));
  }
  return data;
}

TEST(Evaluate, CountsEachLabelledSampleOnce) {
  constexpr std::size_t kSamples = 2500;
  const LabelledData data = thirds(kSamples + 1);
  for (const int ranks : {1, 2, 3})
    run_communicators(ranks, [&](Communicator& communicator) {
      Linear<double> model("linear", 1, 3);  // logits -(x - class)², but for x²
      for (std::size_t c = 0; c < 3; ++c) {
        const auto number = static_cast<double>(c);
        model.weight().value()[c] = 2 * number;
        model.bias().value()[c] = -number * number;
      }
      const auto score = evaluate<double>(communicator, model, data, first_samples(kSamples));
      EXPECT_EQ(score.samples, kSamples);
      EXPECT_DOUBLE_EQ(score.accuracy, 0.8);
    });
}

TEST(Evaluate, RefusesAModelWithTooFewOutputs) {
  for (const std::exception_ptr& error : errors_of_communicators(2, [](Communicator& communicator) {
         Linear<float> model("linear", 1, 2);
         evaluate<float>(communicator, model, thirds(4), first_samples(4));
       })) {
    ASSERT_NE(error, nullptr);
    expect_error(ErrorCode::usage, {"2 outputs", "3 classes"},
                 [&] { std::rethrow_exception(error); });
  }
}

}  // namespace
}  // namespace rondo::train
