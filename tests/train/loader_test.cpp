#include <rondo/train/loader.hpp>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/random_data.hpp"

namespace rondo::train {
namespace {

using namespace std::chrono_literals;
using rondo::testing::expect_error;
using rondo::testing::random_data;

/// Waits until `condition` holds, but no longer than some seconds.
template <class Condition>
bool eventually(Condition condition) {
  for (int i = 0; i < 5000 && !condition(); ++i) std::this_thread::sleep_for(1ms);
  return condition();
}

TEST(Prefetcher, GivesItemsInOrderAndThenNothing) {
  int made = 0;
  Prefetcher<int> prefetcher(
      [&]() -> std::optional<int> {
        if (made == 1000) return {};
        return made++;
      },
      3);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(prefetcher.next(), i);
  EXPECT_FALSE(prefetcher.next());
  EXPECT_FALSE(prefetcher.next());
}

TEST(Prefetcher, MakesNoMoreThanItsDepthAhead) {
  std::atomic<int> made = 0;
  Prefetcher<int> prefetcher([&]() -> std::optional<int> { return ++made; }, 2);
  EXPECT_TRUE(eventually([&] { return made == 3; }));  // two wait, one looks for room
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(made, 3);
  prefetcher.next();
  EXPECT_TRUE(eventually([&] { return made == 4; }));
}

TEST(Prefetcher, ThrowsWhatMakingAnItemThrewInItsPlace) {
  int made = 0;
  Prefetcher<int> prefetcher([&]() -> std::optional<int> {
    if (made == 2) throw std::runtime_error("no third item");
    return made++;
  });
  EXPECT_EQ(prefetcher.next(), 0);
  EXPECT_EQ(prefetcher.next(), 1);
  EXPECT_THROW(prefetcher.next(), std::runtime_error);
  EXPECT_THROW(prefetcher.next(), std::runtime_error);
}

TEST(Prefetcher, EndsAtOnceWhereverItIs) {
  for (int taken = 0; taken < 20; ++taken) {
    Prefetcher<int> prefetcher([]() -> std::optional<int> { return 1; }, 2);
    for (int i = 0; i < taken % 4; ++i) prefetcher.next();
  }
}

class LoaderTest : public ::testing::Test {
 protected:
  Loader<float> make_loader(Rank rank = 0, int ranks = 1) {
    return {data_, samples_, {.batch_size = 4, .seed = 3, .rank = rank, .ranks = ranks}};
  }

  Dataset data_ = random_data(30, 2);
  std::vector<std::size_t> samples_{1, 3, 5, 7, 9, 11, 13, 15, 17, 29};
};

TEST_F(LoaderTest, GivesTheSamplersBatches) {
  Loader<float> loader = make_loader();
  Sampler sampler({.samples = 10, .batch_size = 4, .seed = 3, .rank = 0, .ranks = 1});
  EXPECT_EQ(loader.batches(), 3U);
  for (const std::uint64_t epoch : {0, 1}) {
    loader.start(epoch);
    sampler.set_epoch(epoch);
    for (std::size_t k = 0; k < 3; ++k) {
      const auto batch = loader.next();
      ASSERT_TRUE(batch);
      EXPECT_EQ(batch->index, k);
      const auto chosen = sampler.local_samples(k);
      ASSERT_EQ(batch->samples(), chosen.size());
      EXPECT_TRUE(batch->labels.empty());
      for (std::size_t i = 0; i < chosen.size(); ++i) {
        EXPECT_EQ(batch->numbers[i], samples_[chosen[i]]);
        EXPECT_EQ(batch->targets[i], static_cast<float>(data_.targets[samples_[chosen[i]]]));
        EXPECT_EQ(batch->features[2 * i + 1],
                  static_cast<float>(data_.row(samples_[chosen[i]])[1]));
      }
    }
    EXPECT_FALSE(loader.next());
  }
}

TEST(Loader, GivesLabelledSamplesScaled) {
  const LabelledData data{{2}, {0, 1, 10, 11, 20, 21}, {7, 8, 9}, 0.5};
  const std::vector<std::size_t> samples{0, 2};
  Loader<double> loader(data, samples, {.batch_size = 2, .seed = 0});
  loader.start(0);
  const auto batch = loader.next();
  ASSERT_EQ(batch->samples(), 2U);
  EXPECT_TRUE(batch->targets.empty());
  for (std::size_t i = 0; i < 2; ++i) {
    const std::size_t sample = batch->numbers[i];
    EXPECT_EQ(batch->labels[i], 7 + sample);
    EXPECT_EQ(batch->features[2 * i], 5.0 * static_cast<double>(sample));
    EXPECT_EQ(batch->features[2 * i + 1], 5.0 * static_cast<double>(sample) + 0.5);
  }
  EXPECT_NE(batch->numbers[0], batch->numbers[1]);
}

TEST_F(LoaderTest, GoesOnInTheMiddleOfAnEpoch) {
  Loader<float> whole = make_loader();
  whole.start(5);
  whole.next();
  const auto second = whole.next();
  Loader<float> resumed = make_loader();
  resumed.start(5, 1);
  const auto batch = resumed.next();
  EXPECT_EQ(batch->index, 1U);
  EXPECT_EQ(batch->features, second->features);
}

TEST_F(LoaderTest, GivesARankWithoutSamplesAnEmptyBatch) {
  Loader<float> loader = make_loader(3, 5);
  loader.start(0);
  EXPECT_EQ(loader.next()->samples(), 1U);
  EXPECT_EQ(loader.next()->samples(), 1U);
  EXPECT_EQ(loader.next()->samples(), 0U);  // the last batch has two
  EXPECT_FALSE(loader.next());
}

TEST(Batch, IsTakenApartIntoNearlyEqualParts) {
  const Batch<float> batch{.index = 3,
                           .numbers = {9, 8, 7, 6, 5},
                           .features = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10},
                           .targets = {},
                           .labels = {0, 1, 2, 3, 4}};
  for (const std::size_t parts : {1, 2, 3, 5, 8}) {
    Batch<float> joined{.index = 3, .numbers = {}, .features = {}, .targets = {}, .labels = {}};
    for (std::size_t i = 0; i < parts; ++i) {
      const Batch<float> part = batch.part(i, parts);
      EXPECT_LE(part.samples(), (5 + parts - 1) / parts);
      EXPECT_EQ(part.features.size(), 2 * part.samples());
      joined.numbers.insert(joined.numbers.end(), part.numbers.begin(), part.numbers.end());
      joined.features.insert(joined.features.end(), part.features.begin(), part.features.end());
      joined.labels.insert(joined.labels.end(), part.labels.begin(), part.labels.end());
    }
    EXPECT_EQ(joined.numbers, batch.numbers);
    EXPECT_EQ(joined.features, batch.features);
    EXPECT_EQ(joined.labels, batch.labels);
  }
  const Batch<float> nothing;
  EXPECT_EQ(nothing.part(2, 3).samples(), 0U);
}

TEST_F(LoaderTest, MustBeStarted) {
  Loader<float> loader = make_loader();
  expect_error(ErrorCode::usage, {"start()"}, [&] { loader.next(); });
}

}  // namespace
}  // namespace rondo::train
