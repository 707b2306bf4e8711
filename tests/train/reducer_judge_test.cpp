// What becomes of mean gradients that are not finite, or too long.

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <rondo/train/agree.hpp>
#include <rondo/train/reducer.hpp>

#include "support/expect_error.hpp"
#include "support/thread_communicators.hpp"
#include "train/gradient_of.hpp"

namespace rondo::train {
namespace {

using rondo::testing::errors_of_communicators;
using rondo::testing::expect_error;
using rondo::testing::run_communicators;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// A step of one sample a rank in which parameter i's gradient is values[i] in every element.
void step(GradientReducer& reducer, const std::vector<float>& values) {
  reducer.begin(1);
  for (std::size_t i = values.size(); i-- > 0;) {
    std::ranges::fill(gradient_of<float>(reducer, i), values[i]);
    reducer.ready(i);
  }
  reducer.finish();
}

void add_three(GradientReducer& reducer) {
  for (const char* name : {"a", "b", "c"}) reducer.add(name, 3, DataType::float32);
}

TEST(NonFinite, IsSkippedByAllRanksAlike) {
  ::testing::internal::CaptureStderr();
  run_communicators(3, [](Communicator& communicator) {
    const bool culprit = communicator.rank() == 1;
    for (const double clip_norm : {0.0, 1e6}) {
      GradientReducer reducer(communicator, {.bucket_bytes = 12,
                                             .first_bucket_bytes = 12,
                                             .on_nonfinite = NonFinite::skip,
                                             .clip_norm = clip_norm});
      add_three(reducer);
      for (const float bad : {kNaN, kInfinity, -kInfinity}) {
        step(reducer, {1.0F, culprit ? bad : 1.0F, 1.0F});
        EXPECT_TRUE(reducer.stats().skip);
        step(reducer, {1.0F, 2.0F, 3.0F});
        EXPECT_FALSE(reducer.stats().skip);
        EXPECT_NEAR(gradient_of<float>(reducer, 1)[2], 2.0F, 1e-6);
      }
      EXPECT_EQ(reducer.skipped(), 3U);
    }
  });
  const std::string log = ::testing::internal::GetCapturedStderr();
  std::size_t said = 0;
  for (std::size_t at = log.find("'b'"); at != std::string::npos; at = log.find("'b'", at + 1))
    ++said;
  EXPECT_EQ(said, 2U) << log;  // once a reducer, on one rank
}

TEST(NonFinite, IsFoundWhereOnlyTheSumIsSo) {
  run_communicators(2, [](Communicator& communicator) {
    GradientReducer reducer(communicator, {.on_nonfinite = NonFinite::skip});
    add_three(reducer);
    step(reducer, {1.0F, 1.0F, communicator.rank() == 0 ? kInfinity : -kInfinity});
    EXPECT_TRUE(reducer.stats().skip);
  });
}

TEST(NonFinite, StopsAllRanksAndNamesParameterAndRanks) {
  const auto errors = errors_of_communicators(3, [](Communicator& communicator) {
    GradientReducer reducer(
        communicator,
        {.bucket_bytes = 12, .first_bucket_bytes = 12, .on_nonfinite = NonFinite::stop});
    add_three(reducer);
    step(reducer, {1.0F, 1.0F, 1.0F});
    step(reducer, {1.0F, communicator.rank() == 2 ? kNaN : 1.0F,
                   communicator.rank() == 1 ? kInfinity : 1.0F});
  });
  for (const std::exception_ptr& error : errors) {
    ASSERT_NE(error, nullptr);
    expect_error(ErrorCode::usage, {"'b' is not finite", "rank 1 (from 'c' on), rank 2 (from 'b'"},
                 [&] { std::rethrow_exception(error); });
    EXPECT_THROW(std::rethrow_exception(error), SharedError);
  }
}

TEST(NonFinite, PropagatesUnlessAsked) {
  run_communicators(2, [](Communicator& communicator) {
    GradientReducer reducer(communicator);
    add_three(reducer);
    step(reducer, {1.0F, communicator.rank() == 0 ? kNaN : 1.0F, 1.0F});
    EXPECT_FALSE(reducer.stats().skip);
    EXPECT_TRUE(std::isnan(gradient_of<float>(reducer, 1)[0]));
  });
}

TEST(NonFinite, AnnulsASkippedStepsAccumulation) {
  run_communicators(2, [](Communicator& communicator) {
    GradientReducer reducer(communicator, {.on_nonfinite = NonFinite::skip});
    add_three(reducer);
    reducer.accumulate(1);
    std::ranges::fill(gradient_of<float>(reducer, 0), communicator.rank() == 1 ? kNaN : 1.0F);
    reducer.ready(0);
    step(reducer, {1.0F, 1.0F, 1.0F});
    EXPECT_TRUE(reducer.stats().skip);
    step(reducer, {5.0F, 1.0F, 1.0F});
    EXPECT_FALSE(reducer.stats().skip);
    EXPECT_EQ(gradient_of<float>(reducer, 0)[0], 5.0F);
  });
}

/// Norm and gradients after a clipped step over `ranks`, in buckets of `bucket_bytes`.
struct Clipped {
  double norm;
  std::vector<float> gradients;
  bool operator==(const Clipped&) const = default;
};
Clipped clip(int ranks, std::size_t bucket_bytes, double clip_norm) {
  Clipped result;
  run_communicators(ranks, [&](Communicator& communicator) {
    GradientReducer reducer(
        communicator,
        {.bucket_bytes = bucket_bytes, .first_bucket_bytes = bucket_bytes, .clip_norm = clip_norm});
    std::vector<float> own(700);
    reducer.add("w", 5000, DataType::float32);
    reducer.add("own", std::span(own));
    reducer.add("v", 4097, DataType::float32);
    reducer.begin(2);
    for (const std::size_t i : {2, 1, 0}) {
      const auto gradient = gradient_of<float>(reducer, i);
      for (std::size_t e = 0; e < gradient.size(); ++e)  // rank 0 has all but a power of two of it
        gradient[e] = communicator.rank() == 0 ? float(ranks) * std::sin(float(e + 31 * i)) : 0.0F;
      reducer.ready(i);
    }
    reducer.finish();
    if (communicator.rank() != 0) return;
    result.norm = reducer.stats().norm;
    for (const std::size_t i : {0, 1, 2}) {
      const auto gradient = gradient_of<float>(reducer, i);
      result.gradients.insert(result.gradients.end(), gradient.begin(), gradient.end());
    }
  });
  return result;
}

TEST(ClipNorm, MultipliesMeanGradientsAsPyTorchDoes) {
  const Clipped plain = clip(2, 4096, 1e9);
  double squares = 0.0;
  for (const float element : plain.gradients) squares += double(element) * double(element);
  const double norm = std::sqrt(squares);
  EXPECT_NEAR(plain.norm, norm, 1e-12 * norm);
  const double limit = 0.25 * norm;
  const Clipped clipped = clip(2, 4096, limit);
  EXPECT_EQ(clipped.norm, plain.norm);
  for (std::size_t e = 0; e < plain.gradients.size(); ++e)
    EXPECT_NEAR(clipped.gradients[e], plain.gradients[e] * limit / (norm + 1e-6), 1e-7);
}

TEST(ClipNorm, HasTheSameBitsForEveryBucketSizeAndNumberOfRanks) {
  const Clipped expected = clip(1, 1 << 20, 3.0);
  for (const int ranks : {1, 2, 4})
    for (const std::size_t bytes : {64, 17'000, 1 << 20})
      EXPECT_EQ(clip(ranks, bytes, 3.0), expected);
}

TEST(ClipNorm, RefusesNegativeOnes) {
  run_communicators(1, [](Communicator& communicator) {
    for (const double wrong : {-1.0, double{kNaN}})
      expect_error(ErrorCode::usage, {"clip_norm"},
                   [&] { GradientReducer reducer(communicator, {.clip_norm = wrong}); });
  });
}

}  // namespace
}  // namespace rondo::train
