// Gradients that are compressed on their way.

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <rondo/train/linear.hpp>
#include <rondo/train/loss.hpp>
#include <rondo/train/optimizer.hpp>
#include <rondo/train/reducer.hpp>

#include "support/counting_transport.hpp"
#include "support/expect_error.hpp"
#include "support/thread_communicators.hpp"
#include "train/gradient_of.hpp"

namespace rondo::train {
namespace {

using rondo::testing::expect_error;
using rondo::testing::run_communicators;

ReducerOptions small_buckets(std::string_view compression) {
  return {.bucket_bytes = 4000,
          .first_bucket_bytes = 400,
          .compression = parse_compression(compression)};
}

constexpr std::size_t kInputs = 16;
constexpr std::size_t kOutputs = 12;
const std::vector<const char*> kLossy{"bf16", "f16", "topk:0.1", "powersgd:2"};

/// How far weights end from those that made the samples, relative to the farthest of them.
template <class T>
double distance_after_training(int ranks, const std::string& compression) {
  double distance = 0.0;
  run_communicators(ranks, [&](Communicator& communicator) {
    Linear<T> model("fc", kInputs, kOutputs);
    model.initialise(1);
    GradientReducer reducer(communicator, small_buckets(compression));
    const auto parameters = model.parameters();
    reducer.add_views<T>(parameters);
    const auto optimizer = sgd<T>(parameters);
    const auto truth = [](std::size_t o, std::size_t i) { return std::cos(double(5 * o + i)); };
    std::vector<T> x;
    std::vector<T> target;
    std::size_t mine = 0;
    for (std::size_t s = std::size_t(communicator.rank()); s < 48; s += std::size_t(ranks), ++mine)
      for (std::size_t i = 0; i < kInputs; ++i)
        x.push_back(static_cast<T>(std::sin(double(s * s + 3 * s * i + 7 * i))));
    for (std::size_t s = 0; s < mine; ++s)
      for (std::size_t o = 0; o < kOutputs; ++o) {
        double sum = 0.0;
        for (std::size_t i = 0; i < kInputs; ++i) sum += truth(o, i) * double(x[s * kInputs + i]);
        target.push_back(static_cast<T>(sum));
      }
    for (int step = 0; step < 400; ++step) {
      reducer.begin(mine);
      const auto outputs = model.forward(x, mine);
      std::vector<T> gradient(outputs.size());
      squared_error<T>(outputs, target, gradient);
      model.backward(gradient, [&](std::size_t i) { reducer.ready(i); });
      reducer.finish();
      optimizer->step(0.1);
    }
    if (communicator.rank() != 0) return;
    for (std::size_t o = 0; o < kOutputs; ++o)
      for (std::size_t i = 0; i < kInputs; ++i)
        distance = std::max(
            distance, std::abs(double(model.weight().value()[o * kInputs + i]) - truth(o, i)));
  });
  return distance;
}

TEST(Compression, TrainsToTheSameSolution) {
  EXPECT_LT(distance_after_training<double>(3, "none"), 1e-5);
  EXPECT_LT(distance_after_training<double>(3, "bf16"), 1e-4);
  EXPECT_LT(distance_after_training<double>(3, "f16"), 1e-4);
  EXPECT_LT(distance_after_training<double>(3, "topk:0.1"), 1e-3);
  EXPECT_LT(distance_after_training<double>(3, "powersgd:2"), 1e-3);
  EXPECT_LT(distance_after_training<float>(2, "powersgd:1"), 1e-2);
}

/// Registers a matrix, a vector and a matrix that is too small to gain anything.
void add_parameters(GradientReducer& reducer) {
  reducer.add("wide", std::vector<std::size_t>{20, 5, 8}, DataType::float32);
  reducer.add("vector", 90, DataType::float32);
  reducer.add("tiny", std::vector<std::size_t>{2, 2}, DataType::float32);
  reducer.add("half", std::vector<std::size_t>{30, 30}, DataType::float16);
}

/// A step of one sample a rank.
void step(GradientReducer& reducer, int rank, int number, float factor = 1.0F) {
  reducer.begin(1);
  for (const std::size_t i : {3, 2, 1, 0}) {
    const auto element = [&](std::size_t e) {
      return factor * std::sin(float(e * e + 7 * i + std::size_t(3 * rank + 11 * number)));
    };
    if (i == 3) {
      const auto gradient = gradient_of<float16>(reducer, i);
      for (std::size_t e = 0; e < gradient.size(); ++e) gradient[e] = float16(element(e));
    } else {
      const auto gradient = gradient_of<float>(reducer, i);
      for (std::size_t e = 0; e < gradient.size(); ++e) gradient[e] = element(e);
    }
    reducer.ready(i);
  }
  reducer.finish();
}

std::vector<float> gradients(GradientReducer& reducer) {
  std::vector<float> all;
  for (const std::size_t i : {0, 1, 2}) {
    const auto gradient = gradient_of<float>(reducer, i);
    all.insert(all.end(), gradient.begin(), gradient.end());
  }
  for (const float16 element : gradient_of<float16>(reducer, 3)) all.push_back(float(element));
  return all;
}

TEST(Compression, GivesAllRanksTheSameBitsWithAndWithoutOverlap) {
  for (const char* compression : kLossy) {
    std::vector<std::vector<float>> results(6);
    for (const bool overlap : {true, false})
      run_communicators(3, [&](Communicator& communicator) {
        ReducerOptions options = small_buckets(compression);
        options.overlap = overlap;
        GradientReducer reducer(communicator, options);
        add_parameters(reducer);
        for (int number = 0; number < 3; ++number) step(reducer, communicator.rank(), number);
        results[std::size_t(communicator.rank() + (overlap ? 0 : 3))] = gradients(reducer);
      });
    for (const auto& result : results) EXPECT_EQ(result, results[0]) << compression;
  }
}

/// Mean gradients of three steps in deterministic mode, on rank 0.
std::vector<float> deterministic_gradients(const std::vector<int>& nodes,
                                           std::string_view compression, std::size_t bucket_bytes) {
  std::vector<float> all;
  transport::ThreadWorld world{transport::Topology(nodes)};
  run_communicators(world, [&](Communicator& communicator) {
    GradientReducer reducer(communicator, {.bucket_bytes = bucket_bytes,
                                           .first_bucket_bytes = bucket_bytes,
                                           .compression = parse_compression(compression),
                                           .collective = {.deterministic = true}});
    add_parameters(reducer);
    for (int number = 0; number < 3; ++number) {
      step(reducer, communicator.rank(), number);
      if (communicator.rank() != 0) continue;
      const std::vector<float> some = gradients(reducer);
      all.insert(all.end(), some.begin(), some.end());
    }
  });
  return all;
}

TEST(Compression, HasTheSameBitsForEveryBucketSizeInDeterministicMode) {
  const std::vector<std::vector<int>> placements{
      {0, 0, 0}, {0, 1, 2}, {0, 0, 1, 1}, {0, 1, 0, 1, 0}};
  for (const char* compression : {"none", "bf16", "f16"})
    for (const std::vector<int>& nodes : placements) {
      const auto expected = deterministic_gradients(nodes, compression, 1 << 20);
      for (const std::size_t bytes : {1 << 20, 2000, 64})
        EXPECT_EQ(deterministic_gradients(nodes, compression, bytes), expected)
            << compression << " on " << nodes.size() << " ranks, buckets of " << bytes;
    }
}

TEST(Compression, RanksMayBeginStagesInDifferentOrders) {
  std::barrier<> met(2);
  run_communicators(2, [&](Communicator& communicator) {
    GradientReducer reducer(communicator, small_buckets("powersgd:1"));
    reducer.add("last", std::vector<std::size_t>{30, 30}, DataType::float32);
    reducer.add("between", 1, DataType::float32);  // its ready() may begin a second stage
    reducer.add("first", std::vector<std::size_t>{40, 40}, DataType::float32);
    const auto set_ready = [&](std::size_t i) {
      std::ranges::fill(gradient_of<float>(reducer, i), 2.0F);
      reducer.ready(i);
    };
    reducer.begin(1);
    if (communicator.rank() == 0) {  // no first stage can be over before the other one has begun
      for (const std::size_t i : {2, 1, 0}) set_ready(i);
      met.arrive_and_wait();
    } else {
      met.arrive_and_wait();
      set_ready(2);
      std::this_thread::sleep_for(std::chrono::milliseconds(30));  // now the first bucket's is
      for (const std::size_t i : {1, 0}) set_ready(i);
    }
    reducer.finish();
    for (const std::size_t i : {2, 1, 0})  // of rank 1, so one column is enough
      for (const float element : gradient_of<float>(reducer, i)) EXPECT_NEAR(element, 2.0F, 1e-4);
  });
}

TEST(Compression, SendsNothingElseOfGradientsOfSixteenBitsVectorsAndSmallMatrices) {
  run_communicators(2, [&](Communicator& communicator) {
    GradientReducer plain(communicator, small_buckets("none"));
    GradientReducer thin(communicator, small_buckets("powersgd:1"));
    for (GradientReducer* reducer : {&plain, &thin}) {
      add_parameters(*reducer);
      step(*reducer, communicator.rank(), 0);
    }
    const auto expected = gradients(plain);
    const auto actual = gradients(thin);
    for (std::size_t e = 800; e < expected.size(); ++e) EXPECT_EQ(actual[e], expected[e]) << e;
    EXPECT_NE(actual, expected);
  });
}

/// What has been given out, and what the ranks have left over, add up to all gradients so far.
TEST(Compression, LosesNothingWithErrorFeedback) {
  for (const char* compression : {"topk:0.1", "powersgd:2"}) {
    std::vector<std::vector<float>> residuals(2);
    std::vector<double> expected(800, 0.0);
    std::vector<double> given(800, 0.0);
    run_communicators(2, [&](Communicator& communicator) {
      GradientReducer plain(communicator);
      GradientReducer reducer(communicator, small_buckets(compression));
      add_parameters(plain);
      add_parameters(reducer);
      for (int number = 0; number < 5; ++number) {
        step(plain, communicator.rank(), number);
        step(reducer, communicator.rank(), number);
        if (communicator.rank() != 0) continue;
        for (std::size_t e = 0; e < 800; ++e) {
          expected[e] += double(gradient_of<float>(plain, 0)[e]);
          given[e] += double(gradient_of<float>(reducer, 0)[e]);
        }
      }
      for (const ArrayView& view : reducer.residuals())
        if (view.name == "reducer.residual.wide") {
          EXPECT_EQ(view.shape, (std::vector<std::size_t>{20, 5, 8}));
          const auto* data = static_cast<const float*>(view.data);
          residuals[std::size_t(communicator.rank())].assign(data, data + view.count());
        }
    });
    for (std::size_t e = 0; e < 800; ++e)
      EXPECT_NEAR(given[e] + double(residuals[0].at(e)) + double(residuals[1].at(e)), expected[e],
                  1e-5)
          << compression;
  }
}

TEST(Compression, ASkippedStepLeavesNoTrace) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const char* compression : kLossy)
    run_communicators(2, [&](Communicator& communicator) {
      ReducerOptions options = small_buckets(compression);
      options.on_nonfinite = NonFinite::skip;
      GradientReducer undisturbed(communicator, options);
      GradientReducer disturbed(communicator, options);
      add_parameters(undisturbed);
      add_parameters(disturbed);
      for (int number = 0; number < 3; ++number) {
        step(undisturbed, communicator.rank(), number);
        step(disturbed, communicator.rank(), number);
        EXPECT_FALSE(disturbed.stats().skip);
        EXPECT_EQ(gradients(disturbed), gradients(undisturbed)) << compression;
        const float bad = number == 0 ? kNaN : kInfinity;
        step(disturbed, communicator.rank(), number, communicator.rank() == 1 ? bad : 1.0F);
        EXPECT_TRUE(disturbed.stats().skip) << compression;
      }
    });
}

TEST(Compression, WhatIsNotFiniteIsNotLeftOver) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const char* compression : {"topk:0.1", "powersgd:2"})
    for (const bool shard : {false, true})
      run_communicators(2, [&](Communicator& communicator) {
        ReducerOptions options = small_buckets(compression);
        options.shard = shard;
        GradientReducer undisturbed(communicator, options);
        GradientReducer disturbed(communicator, options);
        add_parameters(undisturbed);
        add_parameters(disturbed);
        for (int number = 0; number < 3; ++number) {
          step(undisturbed, communicator.rank(), number);
          step(disturbed, communicator.rank(), number);
          EXPECT_EQ(gradients(disturbed), gradients(undisturbed)) << compression;
          const float bad = number == 0 ? kNaN : kInfinity;
          step(disturbed, communicator.rank(), number, communicator.rank() == 1 ? bad : 1.0F);
          EXPECT_FALSE(disturbed.stats().skip);  // nobody looks
          EXPECT_FALSE(std::isfinite(gradient_of<float>(disturbed, 0)[0])) << compression;
        }
      });
}

TEST(Compression, GoesOnFromSavedState) {
  for (const char* compression : {"topk:0.1", "powersgd:2"})
    run_communicators(2, [&](Communicator& communicator) {
      GradientReducer first(communicator, small_buckets(compression));
      GradientReducer second(communicator, small_buckets(compression));
      add_parameters(first);
      add_parameters(second);
      for (int number = 0; number < 2; ++number) step(first, communicator.rank(), number);
      auto from = first.state();
      auto to = second.state();
      std::ranges::move(first.residuals(), std::back_inserter(from));
      std::ranges::move(second.residuals(), std::back_inserter(to));
      ASSERT_EQ(from.size(), to.size());
      ASSERT_FALSE(from.empty());
      for (std::size_t i = 0; i < from.size(); ++i) {
        EXPECT_EQ(from[i].name, to[i].name);
        std::memcpy(to[i].data, from[i].data, from[i].bytes());
      }
      step(first, communicator.rank(), 2);
      step(second, communicator.rank(), 2);
      EXPECT_EQ(gradients(first), gradients(second)) << compression;
    });
}

/// Bytes that each of `ranks` ranks sends in a step with a matrix of 100 × 200 and a vector of 1000
/// float32.
std::vector<std::size_t> bytes_sent(int ranks, const std::string& compression) {
  using rondo::testing::CountingTransport;
  std::vector<CountingTransport::Count> sent(static_cast<std::size_t>(ranks));
  transport::ThreadWorld world(transport::Topology::spread(ranks));
  std::barrier<> all(ranks);
  rondo::testing::run_ranks(world, [&](transport::Transport& transport) {
    auto& mine = sent[std::size_t(transport.rank())];
    Communicator communicator = rondo::testing::make_communicator(
        std::make_unique<CountingTransport>(transport.split(0, transport.rank()), mine));
    ReducerOptions options{.compression = parse_compression(compression)};
    options.collective.algorithm = "ring";
    GradientReducer reducer(communicator, options);
    reducer.add("matrix", std::vector<std::size_t>{100, 200}, DataType::float32);
    reducer.add("vector", 1000, DataType::float32);
    for (int number = 0; number < 2; ++number) {
      all.arrive_and_wait();
      mine = 0;
      all.arrive_and_wait();
      reducer.begin(1);
      for (const std::size_t i : {1, 0}) {
        std::ranges::fill(gradient_of<float>(reducer, i), float(communicator.rank()));
        reducer.ready(i);
      }
      reducer.finish();
    }
  });
  return {sent.begin(), sent.end()};
}

TEST(Compression, SendsAsFewBytesAsItSays) {
  constexpr std::size_t kElements = 21'000;
  for (const std::size_t ranks : {2U, 4U}) {
    // A ring sends 2(n-1)/n of what it reduces, and n-1 of the n parts that it gathers.
    const auto reduced = [&](std::size_t bytes) { return 2 * (ranks - 1) * bytes / ranks; };
    const std::vector<std::pair<std::string, std::size_t>> expected{
        {"none", reduced(4 * kElements)},
        {"bf16", reduced(2 * kElements)},
        {"f16", reduced(2 * kElements)},
        {"topk:0.01", (ranks - 1) * 210 * (4 + 4)},
        {"powersgd:3", reduced(4 * (3 * (100 + 200) + 1000))}};
    for (const auto& [compression, bytes] : expected)
      for (const std::size_t sent : bytes_sent(static_cast<int>(ranks), compression))
        EXPECT_NEAR(double(sent), double(bytes), 700.0) << compression << ", " << ranks << " ranks";
  }
}

TEST(Compression, IsRefusedOutOfRangeAndMustBeAlike) {
  run_communicators(1, [](Communicator& communicator) {
    for (const Compression& wrong :
         {Compression{.fraction = 0.0}, Compression{.fraction = 1.1}, Compression{.rank = 0}})
      EXPECT_THROW(GradientReducer(communicator, {.compression = wrong}), Error);
  });
  const auto errors = rondo::testing::errors_of_communicators(2, [](Communicator& communicator) {
    GradientReducer reducer(communicator, small_buckets(communicator.rank() == 0 ? "bf16" : "f16"));
    add_parameters(reducer);
    reducer.begin(1);
  });
  for (const std::exception_ptr& error : errors) {
    ASSERT_NE(error, nullptr);
    expect_error(ErrorCode::mismatch, {"rank 1 differ"}, [&] { std::rethrow_exception(error); });
  }
}

}  // namespace
}  // namespace rondo::train
