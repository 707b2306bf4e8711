// Several micro-batches in one step, and ranks that run out of batches.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include <rondo/train/linear.hpp>
#include <rondo/train/loss.hpp>
#include <rondo/train/optimizer.hpp>
#include <rondo/train/reducer.hpp>

#include "support/expect_error.hpp"
#include "support/thread_communicators.hpp"
#include "train/gradient_of.hpp"

namespace rondo::train {
namespace {

using rondo::testing::expect_error;
using rondo::testing::run_communicators;

/// Rank r's micro-batch m has samples[r][m] samples, each with gradient 10·r + m. Expects the mean
/// over all of them, of a view and of memory of the caller's.
template <class T>
void expect_mean_over_windows(const std::vector<std::vector<std::uint64_t>>& samples) {
  double sum = 0.0;
  std::uint64_t total = 0;
  for (std::size_t r = 0; r < samples.size(); ++r)
    for (std::size_t m = 0; m < samples[r].size(); ++m) {
      sum += double(samples[r][m]) * double(10 * r + m);
      total += samples[r][m];
    }
  run_communicators(static_cast<int>(samples.size()), [&](Communicator& communicator) {
    std::vector<T> own(5);
    GradientReducer reducer(communicator, {.first_bucket_bytes = 8});
    reducer.add("view", 3, data_type_of<T>);
    reducer.add("own", std::span(own));
    const auto rank = static_cast<std::size_t>(communicator.rank());
    for (int step = 0; step < 2; ++step) {  // the second one finds nothing of the first
      for (std::size_t m = 0; m < samples[rank].size(); ++m) {
        const std::uint64_t here = samples[rank][m];
        if (m + 1 < samples[rank].size())
          reducer.accumulate(here);
        else
          reducer.begin(here);
        for (const std::size_t i : {1, 0}) {
          std::ranges::fill(gradient_of<T>(reducer, i),
                            T(static_cast<float>(double(here) * double(10 * rank + m))));
          reducer.ready(i);
        }
      }
      EXPECT_EQ(reducer.finish(), total);
      for (const std::size_t i : {0, 1})
        for (const T element : gradient_of<T>(reducer, i))
          EXPECT_NEAR(static_cast<float>(element), sum / double(total), 0.01 * sum / double(total));
    }
  });
}

TEST(Accumulation, DividesOnceByTheSamplesOfTheWholeWindow) {
  expect_mean_over_windows<float>({{3, 1, 4}, {1, 5, 9}});
  expect_mean_over_windows<double>({{3, 1}, {1, 5, 9}, {2}});  // unequally many micro-batches
  expect_mean_over_windows<float16>({{2, 2, 2, 1}, {2, 2, 2, 0}});
  expect_mean_over_windows<bfloat16>({{7, 2}, {3, 2}});
}

TEST(Accumulation, AddsSixteenBitGradientsInFloat32) {
  run_communicators(2, [](Communicator& communicator) {
    GradientReducer reducer(communicator);
    reducer.add("w", 2, DataType::bfloat16);
    for (int m = 0; m < 257; ++m) {  // in bfloat16, 256 + 1 is 256
      m < 256 ? reducer.accumulate(1) : reducer.begin(1);
      std::ranges::fill(gradient_of<bfloat16>(reducer, 0), bfloat16(m == 0 ? 256.0F : 1.0F));
      reducer.ready(0);
    }
    EXPECT_EQ(reducer.finish(), 514U);
    EXPECT_EQ(float(gradient_of<bfloat16>(reducer, 0)[1]), float(bfloat16(512.0F / 257)));
  });
}

TEST(Accumulation, AParameterMissingFromTheLastMicroBatchKeepsWhatItHas) {
  run_communicators(2, [](Communicator& communicator) {
    GradientReducer reducer(communicator, {.bucket_bytes = 4, .first_bucket_bytes = 4});
    for (const char* name : {"first only", "last only"}) reducer.add(name, 1, DataType::float32);
    reducer.accumulate(1);
    gradient_of<float>(reducer, 0)[0] = 6.0F;
    reducer.ready(0);
    reducer.begin(1);
    gradient_of<float>(reducer, 1)[0] = 8.0F;
    reducer.ready(1);
    EXPECT_EQ(reducer.finish(), 4U);
    EXPECT_EQ(gradient_of<float>(reducer, 0)[0], 3.0F);
    EXPECT_EQ(gradient_of<float>(reducer, 1)[0], 4.0F);
  });
}

TEST(Accumulation, AWindowMayEndWithoutSamples) {
  run_communicators(2, [](Communicator& communicator) {
    GradientReducer reducer(communicator);
    reducer.add("w", 1, DataType::float32);
    reducer.accumulate(2);
    gradient_of<float>(reducer, 0)[0] = 8.0F;
    reducer.ready(0);
    reducer.begin(0);
    EXPECT_EQ(reducer.finish(), 4U);
    EXPECT_EQ(gradient_of<float>(reducer, 0)[0], 4.0F);
  });
}

TEST(Accumulation, WhoAddsUpHimselfCallsNoReady) {
  run_communicators(2, [](Communicator& communicator) {
    std::vector<float> own(1, 0.0F);
    GradientReducer reducer(communicator);
    reducer.add("w", std::span(own));
    reducer.accumulate(1);
    own[0] += 2.0F;
    reducer.begin(1);
    own[0] += 6.0F;
    reducer.ready(0);
    reducer.finish();
    EXPECT_EQ(own[0], 4.0F);
  });
}

TEST(Accumulation, IsRefusedWhereBucketsMayTravel) {
  run_communicators(1, [](Communicator& communicator) {
    GradientReducer reducer(communicator);
    reducer.add("w", 1, DataType::float32);
    reducer.accumulate(1);
    reducer.ready(0);
    expect_error(ErrorCode::usage, {"'w' twice"}, [&] { reducer.ready(0); });
    expect_error(ErrorCode::usage, {"finish() without begin()"}, [&] { reducer.finish(); });
    reducer.begin(1);
    expect_error(ErrorCode::usage, {"last micro-batch"}, [&] { reducer.accumulate(1); });
    reducer.ready(0);
    reducer.finish();
  });
}

/// Weights after an epoch over 22 samples, of which rank r of n has those r, r + n, …, in
/// micro-batches of `micro` samples, `window` of which make a step, with the last one partial.
std::vector<double> weights_of_training(Communicator& communicator, std::size_t micro,
                                        std::size_t window) {
  constexpr std::size_t kSamples = 22;
  Linear<double> model("fc", 2, 1);
  model.initialise(3);
  GradientReducer reducer(communicator, {.bucket_bytes = 16, .first_bucket_bytes = 8});
  const auto parameters = model.parameters();
  reducer.add_views<double>(parameters);
  const auto optimizer = sgd<double>(parameters, {.momentum = 0.9});
  const auto ranks = static_cast<std::size_t>(communicator.size());
  for (std::size_t first = 0; first < kSamples; first += micro * window) {
    const std::size_t end = std::min(first + micro * window, kSamples);
    for (std::size_t begin = first; begin < end; begin += micro) {
      std::vector<double> x;
      std::vector<double> target;
      for (std::size_t s = begin; s < std::min(begin + micro, end); ++s)
        if (s % ranks == static_cast<std::size_t>(communicator.rank())) {
          x.insert(x.end(), {std::sin(double(s)), std::cos(3.0 * double(s))});
          target.push_back(double(s % 5));
        }
      begin + micro < end ? reducer.accumulate(target.size()) : reducer.begin(target.size());
      const auto outputs = model.forward(x, target.size());
      std::vector<double> gradient(outputs.size());
      squared_error<double>(outputs, target, gradient);
      model.backward(gradient, [&](std::size_t i) { reducer.ready(i); });
    }
    EXPECT_EQ(reducer.finish(), end - first);
    optimizer->step(0.1);
  }
  const auto weight = model.weight().value().span();
  return {weight.begin(), weight.end()};
}

TEST(Accumulation, TrainsTheModelThatWholeBatchesTrain) {
  std::vector<double> expected;
  run_communicators(
      1, [&](Communicator& communicator) { expected = weights_of_training(communicator, 8, 1); });
  for (const int ranks : {1, 2, 3})
    run_communicators(ranks, [&](Communicator& communicator) {
      for (const std::size_t micro : {1, 2, 4}) {  // the last window has 6 of 8 samples
        const auto weights = weights_of_training(communicator, micro, 8 / micro);
        for (std::size_t i = 0; i < weights.size(); ++i)
          EXPECT_NEAR(weights[i], expected[i], 1e-12) << ranks << " ranks, micro " << micro;
      }
    });
}

TEST(UnevenInputs, RanksThatRunOutJoinUntilAllAreDone) {
  run_communicators(3, [](Communicator& communicator) {
    const std::vector<std::size_t> batches{4, 0, 2};  // of rank 0, 1, 2; one sample each
    GradientReducer reducer(communicator, {.bucket_bytes = 4, .first_bucket_bytes = 4});
    for (const char* name : {"a", "b"}) reducer.add(name, 1, DataType::float32);
    const std::size_t mine = batches[static_cast<std::size_t>(communicator.rank())];
    std::vector<std::uint64_t> totals;
    for (std::size_t batch = 0;; ++batch) {
      const bool any = batch < mine;
      reducer.begin(any ? 1 : 0);
      if (any)
        for (const std::size_t i : {1, 0}) {
          gradient_of<float>(reducer, i)[0] = float(communicator.rank()) + 1.0F;
          reducer.ready(i);
        }
      totals.push_back(reducer.finish());
      if (totals.back() == 0) break;
      EXPECT_EQ(gradient_of<float>(reducer, 0)[0], batch < 2 ? 2.0F : 1.0F);  // (1 + 3) / 2
    }
    EXPECT_EQ(totals, (std::vector<std::uint64_t>{2, 2, 1, 1, 0}));
  });
}

}  // namespace
}  // namespace rondo::train
