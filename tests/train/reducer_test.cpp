#include <rondo/train/reducer.hpp>

#include <algorithm>
#include <barrier>
#include <numeric>

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <rondo/shared_buffer.hpp>

#include "support/expect_error.hpp"
#include "support/thread_communicators.hpp"
#include "train/gradient_of.hpp"

namespace rondo::train {
namespace {

using rondo::testing::errors_of_communicators;
using rondo::testing::expect_error;
using rondo::testing::run_communicators;

/// Sample s has the gradient s + 1 + element: integers, so that sums are exact.
double gradient_of_sample(std::size_t sample, std::size_t element) {
  return static_cast<double>(sample + 1 + element);
}

/// Runs a step in which rank r has samples[r] samples, in two parameters of `count` elements, and
/// expects the mean over all samples everywhere.
void expect_mean_over_samples(const std::vector<std::uint64_t>& samples, std::size_t count) {
  const std::uint64_t total = std::accumulate(samples.begin(), samples.end(), std::uint64_t{0});
  run_communicators(static_cast<int>(samples.size()), [&](Communicator& communicator) {
    GradientReducer reducer(communicator, {.bucket_bytes = 64, .first_bucket_bytes = 32});
    for (const char* name : {"a", "b"}) reducer.add(name, count, DataType::float64);
    const auto first = samples.begin() + communicator.rank();
    const std::uint64_t begin = std::accumulate(samples.begin(), first, std::uint64_t{0});

    reducer.begin(*first);
    for (const std::size_t i : {1, 0}) {
      for (std::size_t e = 0; e < count; ++e) {
        double& sum = gradient_of<double>(reducer, i)[e];
        sum = 0.0;
        for (std::uint64_t s = begin; s < begin + *first; ++s) sum += gradient_of_sample(s, e);
      }
      reducer.ready(i);
    }
    EXPECT_EQ(reducer.finish(), total);

    for (std::size_t e = 0; e < count; ++e) {
      double sum = 0.0;
      for (std::uint64_t s = 0; s < total; ++s) sum += gradient_of_sample(s, e);
      const double mean = sum / static_cast<double>(total);
      for (const std::size_t i : {0, 1})
        EXPECT_NEAR(gradient_of<double>(reducer, i)[e], mean, 1e-14 * mean);
    }
  });
}

TEST(GradientReducer, TakesTheMeanOverSamplesHoweverTheyLie) {
  expect_mean_over_samples({3, 1}, 5);
  expect_mean_over_samples({0, 4}, 5);
  expect_mean_over_samples({7}, 5);
  expect_mean_over_samples({1, 0, 2}, 4);
  expect_mean_over_samples({5, 4, 0, 0, 1}, 3);
  expect_mean_over_samples({1, 2, 3, 4, 5, 6, 7, 8}, 1);
}

TEST(GradientReducer, ReducesBucketsThatTheRanksDoNotDivide) {
  for (const int ranks : {3, 5})
    run_communicators(ranks, [&](Communicator& communicator) {
      std::vector<float> guarded(10, -7.0F);  // 8 gradients between two canaries
      const std::span<float> gradient = std::span(guarded).subspan(1, 8);
      GradientReducer reducer(communicator);
      reducer.add("w", gradient);
      reducer.begin(1);
      for (std::size_t e = 0; e < 8; ++e)
        gradient[e] = static_cast<float>(e + static_cast<std::size_t>(communicator.rank()));
      reducer.ready(0);
      reducer.finish();
      for (std::size_t e = 0; e < 8; ++e)
        EXPECT_NEAR(gradient[e], double(e) + 0.5 * (ranks - 1), 1e-5);
      EXPECT_EQ(guarded.front(), -7.0F);
      EXPECT_EQ(guarded.back(), -7.0F);
    });
}

TEST(GradientReducer, ARankWithoutSamplesMayGoStraightToFinish) {
  run_communicators(3, [](Communicator& communicator) {
    GradientReducer reducer(communicator);
    reducer.add("w", 4, DataType::float32);
    for (int step = 0; step < 2; ++step) {  // the second with a stale gradient in the bucket
      const bool idle = communicator.rank() == 1;
      reducer.begin(idle ? 0 : 2);
      if (!idle) {
        std::ranges::fill(gradient_of<float>(reducer, 0), 8.0F);
        reducer.ready(0);
      }
      EXPECT_EQ(reducer.finish(), 4U);
      for (const float element : gradient_of<float>(reducer, 0)) EXPECT_EQ(element, 4.0F);
    }
  });
}

TEST(GradientReducer, AParameterWithoutGradientContributesZerosNotLastStepsGradient) {
  run_communicators(2, [](Communicator& communicator) {
    GradientReducer reducer(communicator, {.bucket_bytes = 8, .first_bucket_bytes = 8});
    for (const char* name : {"nowhere", "on one rank", "everywhere"})
      reducer.add(name, 2, DataType::float32);
    const auto set = [&](std::size_t i) {
      std::ranges::fill(gradient_of<float>(reducer, i), 6.0F);
      reducer.ready(i);
    };
    reducer.begin(1);
    for (const std::size_t i : {0, 1, 2}) set(i);
    reducer.finish();

    reducer.begin(1);
    set(2);
    if (communicator.rank() == 0) set(1);
    reducer.finish();
    EXPECT_EQ(gradient_of<float>(reducer, 0)[1], 0.0F);
    EXPECT_EQ(gradient_of<float>(reducer, 1)[1], 3.0F);
    EXPECT_EQ(gradient_of<float>(reducer, 2)[1], 6.0F);
  });
}

TEST(GradientReducer, NamesAParameterWithoutGradientOnce) {
  ::testing::internal::CaptureStderr();
  run_communicators(1, [](Communicator& communicator) {
    GradientReducer reducer(communicator);
    reducer.add("forgotten", 2, DataType::float32);
    reducer.begin(0);  // no samples: nothing to be expected
    reducer.finish();
    for (int step = 0; step < 3; ++step) {
      reducer.begin(1);
      reducer.finish();
    }
  });
  const std::string log = ::testing::internal::GetCapturedStderr();
  const std::size_t first = log.find("'forgotten'");
  EXPECT_NE(first, std::string::npos) << log;
  EXPECT_EQ(log.find("'forgotten'", first + 1), std::string::npos) << log;
}

TEST(GradientReducer, RightBucketsMeetWhateverTheOrderOfReadiness) {
  constexpr std::size_t kParameters = 7;
  run_communicators(4, [](Communicator& communicator) {
    GradientReducer reducer(communicator, {.bucket_bytes = 16, .first_bucket_bytes = 8});
    for (std::size_t i = 0; i < kParameters; ++i)
      reducer.add(fmt::format("p{}", i), 1 + i % 3, DataType::float64);
    for (std::size_t step = 0; step < 3; ++step) {
      reducer.begin(1);
      for (std::size_t k = 0; k < kParameters; ++k) {
        const std::size_t i = (k * 3 + static_cast<std::size_t>(communicator.rank()) + step) % 7;
        std::ranges::fill(gradient_of<double>(reducer, i), double(100 * i + step));
        reducer.ready(i);
      }
      reducer.finish();
      for (std::size_t i = 0; i < kParameters; ++i)
        for (const double element : gradient_of<double>(reducer, i))
          EXPECT_EQ(element, double(100 * i + step));
    }
  });
}

TEST(GradientReducer, KeepsTypesApartAndScalesBeforeRounding) {
  run_communicators(2, [](Communicator& communicator) {
    GradientReducer reducer(communicator);
    reducer.add("single", 3, DataType::float32);
    reducer.add("half", 3, DataType::float16);
    reducer.add("double", 3, DataType::float64);
    reducer.add("brain", 3, DataType::bfloat16);
    reducer.begin(1);
    std::ranges::fill(gradient_of<float>(reducer, 0), 3.0F);
    // Two of these overflow float16 when they are added before they are scaled.
    std::ranges::fill(gradient_of<float16>(reducer, 1), float16(40000.0F));
    std::ranges::fill(gradient_of<double>(reducer, 2), 1e300);
    std::ranges::fill(gradient_of<bfloat16>(reducer, 3),
                      bfloat16(communicator.rank() == 0 ? 256.0F : 2.0F));
    for (std::size_t i = 0; i < 4; ++i) reducer.ready(i);
    reducer.finish();
    EXPECT_EQ(reducer.stats().buckets, 4U);
    EXPECT_EQ(gradient_of<float>(reducer, 0)[2], 3.0F);
    EXPECT_EQ(float(gradient_of<float16>(reducer, 1)[2]), 40000.0F);
    EXPECT_EQ(gradient_of<double>(reducer, 2)[2], 1e300);
    EXPECT_EQ(float(gradient_of<bfloat16>(reducer, 3)[2]), 129.0F);
  });
}

TEST(GradientReducer, AParameterLargerThanABucketIsReducedToItsLastElement) {
  constexpr std::size_t kLarge = 7'000'003;  // 28 MB of float
  run_communicators(2, [](Communicator& communicator) {
    GradientReducer reducer(communicator);
    reducer.add("before", 1, DataType::float32);
    reducer.add("large", kLarge, DataType::float32);
    reducer.add("after", 1, DataType::float32);
    reducer.begin(2);
    for (const std::size_t i : {2, 1, 0}) {
      const std::span<float> gradient = gradient_of<float>(reducer, i);
      for (std::size_t e = 0; e < gradient.size(); ++e)
        gradient[e] =
            static_cast<float>(4 * (e % 1000 + static_cast<std::size_t>(communicator.rank())));
      reducer.ready(i);
    }
    reducer.finish();
    const std::span<float> large = gradient_of<float>(reducer, 1);
    for (std::size_t e = 0; e < kLarge; ++e)
      ASSERT_EQ(large[e], static_cast<float>(2 * (e % 1000) + 1)) << e;
    EXPECT_EQ(gradient_of<float>(reducer, 0)[0], 1.0F);
    EXPECT_EQ(gradient_of<float>(reducer, 2)[0], 1.0F);
    EXPECT_EQ(reducer.stats().buckets, 3U);
    EXPECT_EQ(reducer.stats().bytes, 4 * (kLarge + 2));
    EXPECT_GT(reducer.stats().exposed, 0.0);
  });
}

TEST(GradientReducer, NoSamplesAnywhereGiveZeroAndNoReduction) {
  run_communicators(2, [](Communicator& communicator) {
    GradientReducer reducer(communicator);
    std::vector<float> own(3, 5.0F);
    reducer.add("view", 3, DataType::float32);
    reducer.add("own", std::span(own));
    std::ranges::fill(gradient_of<float>(reducer, 0), 5.0F);
    reducer.begin(0);
    reducer.ready(0);
    reducer.ready(1);
    EXPECT_EQ(reducer.finish(), 0U);
    EXPECT_EQ(reducer.stats().buckets, 0U);
    for (const float element : gradient_of<float>(reducer, 0)) EXPECT_EQ(element, 0.0F);
    for (const float element : own) EXPECT_EQ(element, 0.0F);
  });
}

TEST(GradientReducer, GivesParametersViewsOfItsBuckets) {
  run_communicators(2, [](Communicator& communicator) {
    Parameter<double> weight("weight", {2, 2});
    Parameter<double> bias("bias", {2});
    const std::vector<Parameter<double>*> parameters{&weight, &bias};
    GradientReducer reducer(communicator);
    EXPECT_EQ(reducer.add_views<double>(parameters), 0U);
    reducer.begin(1);
    std::ranges::fill(bias.gradient(), communicator.rank() * 2.0);
    reducer.ready(1);
    std::ranges::fill(weight.gradient(), communicator.rank() * 4.0);
    reducer.ready(0);
    reducer.finish();
    EXPECT_EQ(weight.gradient()[3], 2.0);
    EXPECT_EQ(bias.gradient()[1], 1.0);
    // Without gaps, the last registered first.
    EXPECT_EQ(weight.gradient().data(), bias.gradient().data() + 2);
  });
}

TEST(GradientReducer, WorksWithoutParametersAndWithEmptyOnes) {
  run_communicators(2, [](Communicator& communicator) {
    GradientReducer none(communicator);
    none.begin(3);
    EXPECT_EQ(none.finish(), 6U);
    GradientReducer empty(communicator);
    empty.add("empty", 0, DataType::float32);
    empty.add("empty, own", Buffer(nullptr, 0, DataType::float32));
    empty.begin(1);
    empty.ready(1);
    empty.ready(0);
    EXPECT_EQ(empty.finish(), 2U);
  });
}

/// Expects an Error(usage) that contains `text`.
void expect_usage_error(const std::function<void()>& call, const std::string& text) {
  try {
    call();
    ADD_FAILURE() << "no error; expected: " << text;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
  }
}

TEST(GradientReducer, NamesTheParameterInUsageErrors) {
  run_communicators(1, [](Communicator& communicator) {
    GradientReducer reducer(communicator);
    reducer.add("w", 2, DataType::float32);
    const auto add = [&] { reducer.add("late", 2, DataType::float32); };
    expect_usage_error([&] { reducer.add("i", 2, DataType::int32); }, "'i' is int32");
    expect_usage_error([&] { reducer.add("n", Buffer(nullptr, 2, DataType::float32)); }, "'n'");
    expect_usage_error([&] { reducer.ready(0); }, "'w' outside of begin()");
    expect_usage_error([&] { reducer.ready(1); }, "no parameter 1; 1 are registered");
    expect_usage_error([&] { reducer.finish(); }, "finish() without begin()");
    reducer.begin(1);
    expect_usage_error([&] { reducer.begin(1); }, "begin() again");
    expect_usage_error(add, "'late' is registered too late");
    reducer.ready(0);
    expect_usage_error([&] { reducer.ready(0); }, "'w' twice");
    reducer.finish();
    expect_usage_error([&] { reducer.ready(0); }, "'w' outside of begin()");
    ReducerOptions scaled;
    scaled.collective.scale = 2.0;
    expect_usage_error([&] { GradientReducer refused(communicator, scaled); }, "leave it at 1");
  });
}

TEST(GradientReducer, BackwardDoesNotWaitForOtherRanks) {
  run_communicators(2, [](Communicator& communicator) {
    Communicator meeting = communicator.split(0, communicator.rank());
    GradientReducer reducer(communicator, {.bucket_bytes = 16, .first_bucket_bytes = 16});
    for (const char* name : {"a", "b", "c"}) reducer.add(name, 4, DataType::float32);
    for (int step = 0; step < 3; ++step) {
      reducer.begin(1);
      if (communicator.rank() == 1) meeting.barrier();  // the other's backward pass is over by then
      for (const std::size_t i : {2, 1, 0}) {
        std::ranges::fill(gradient_of<float>(reducer, i), float(2 * communicator.rank()));
        reducer.ready(i);
      }
      if (communicator.rank() == 0) meeting.barrier();
      reducer.finish();
      EXPECT_EQ(reducer.stats().buckets, 3U);
      for (const std::size_t i : {0, 1, 2}) EXPECT_EQ(gradient_of<float>(reducer, i)[3], 1.0F);
    }
  });
}

TEST(GradientReducer, ReadyMovesWhateverIsUnderWayWhereNoThreadDoes) {
  constexpr std::size_t kLarge = 500'000;
  constexpr std::size_t kOthers = 2000;
  core::Settings settings;
  settings.progress = core::Settings::Progress::poll;
  settings.shm = false;  // or a step would do too much
  std::barrier<> both(2);
  const auto errors = rondo::testing::errors_with(2, settings, [&](Communicator& communicator) {
    GradientReducer reducer(communicator, {.bucket_bytes = 4 * kOthers, .first_bucket_bytes = 8});
    for (std::size_t i = 0; i < kOthers; ++i)
      reducer.add(fmt::format("p{}", i), 1, DataType::float32);
    reducer.add("small", 2001, DataType::float32);  // over long before the large one
    reducer.add("large", kLarge, DataType::float32);
    reducer.begin(1);
    for (std::size_t i = kOthers + 2; i-- > 1;) {
      std::ranges::fill(gradient_of<float>(reducer, i), communicator.rank() == 0 ? 2.0F : 4.0F);
      reducer.ready(i);
      both.arrive_and_wait();
    }
    const auto large = gradient_of<float>(reducer, kOthers + 1);
    EXPECT_EQ(large.front(), 3.0F);  // reduced by now
    EXPECT_EQ(large.back(), 3.0F);
    both.arrive_and_wait();
    reducer.finish();
  });
  for (const std::exception_ptr& error : errors) EXPECT_EQ(error, nullptr);
}

TEST(GradientReducer, GivesTheSameBitsWhetherBucketsOverlapOrNot) {
  std::vector<std::vector<float>> results;
  for (const bool overlap : {true, false}) {
    std::vector<float> result;
    run_communicators(3, [&](Communicator& communicator) {
      GradientReducer reducer(communicator,
                              {.bucket_bytes = 4096, .first_bucket_bytes = 64, .overlap = overlap});
      for (const std::size_t count : {3U, 700U, 5000U})
        reducer.add(fmt::format("p{}", count), count, DataType::float32);
      reducer.begin(static_cast<std::uint64_t>(communicator.rank()) + 1);
      for (const std::size_t i : {2, 1, 0}) {
        const auto gradient = gradient_of<float>(reducer, i);
        for (std::size_t e = 0; e < gradient.size(); ++e)
          gradient[e] =
              1.0F / static_cast<float>(e + 1 + static_cast<std::size_t>(7 * communicator.rank()));
        reducer.ready(i);
      }
      reducer.finish();
      if (communicator.rank() != 0) return;
      for (const std::size_t i : {0, 1, 2}) {
        const auto gradient = gradient_of<float>(reducer, i);
        result.insert(result.end(), gradient.begin(), gradient.end());
      }
    });
    results.push_back(result);
  }
  EXPECT_EQ(results[0].size(), 5703U);
  EXPECT_EQ(results[0], results[1]);
}

TEST(GradientReducer, RanksThatRegisterDifferentlyAllLearnWhich) {
  const auto errors = errors_of_communicators(3, [](Communicator& communicator) {
    GradientReducer reducer(communicator);
    reducer.add("a", 2, DataType::float32);
    reducer.add(communicator.rank() == 2 ? "c" : "b", 2, DataType::float32);
    reducer.begin(1);
  });
  for (const std::exception_ptr& error : errors) {
    ASSERT_NE(error, nullptr);
    expect_error(ErrorCode::mismatch, {"on rank 2 differ"}, [&] { std::rethrow_exception(error); });
  }
}

/// Messages of the failed exchange may still be sent from it.
TEST(GradientReducer, LeavesItsMemoryToMessagesWhenItFails) {
  const auto errors = errors_of_communicators(2, [](Communicator& communicator) {
    constexpr std::size_t kCount = 100'000;
    void* memory = nullptr;
    {
      GradientReducer reducer(communicator);
      reducer.add("weight", kCount, DataType::float64);
      memory = reducer.gradient(0).data;
      reducer.begin(1);
      if (communicator.rank() == 0) {
        EXPECT_THROW(communicator.broadcast(Buffer(), 7), Error);
      }
      EXPECT_THROW(
          {
            reducer.ready(0);
            reducer.finish();
          },
          Error);
    }
    const SharedBuffer<double> next(communicator, kCount);
    EXPECT_NE(static_cast<const void*>(next.data()), memory);
  });
  for (const auto& error : errors) EXPECT_FALSE(error);
}

}  // namespace
}  // namespace rondo::train
