#include <rondo/train/sampler.hpp>

#include <algorithm>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

#include <rondo/train/permutation.hpp>

#include "core/digest.hpp"
#include "support/expect_error.hpp"
#include "train/golden.hpp"

namespace rondo::train {
namespace {

using rondo::testing::expect_error;
using Indices = std::vector<std::size_t>;

std::uint64_t digest(const Indices& indices) {
  core::Digest digest;
  for (const std::size_t index : indices) digest.add(std::uint64_t{index});
  return digest.value();
}

TEST(Permutation, HoldsEveryNumberOnce) {
  for (const std::size_t count : {0U, 1U, 2U, 3U, 1000U}) {
    Indices order = permutation(count, 5, 6);
    std::ranges::sort(order);
    Indices all(count);
    std::iota(all.begin(), all.end(), std::size_t{0});
    EXPECT_EQ(order, all);
  }
}

TEST(Permutation, IsTheSameEverywhere) {
  EXPECT_EQ(permutation(8, 1, 0), (Indices{3, 6, 5, 4, 7, 1, 0, 2}));
}

TEST(Permutation, DependsOnSeedAndStream) {
  std::set<Indices> orders;
  for (const std::uint64_t seed : {0, 1, 2})
    for (const std::uint64_t stream : {0, 1, 2}) orders.insert(permutation(50, seed, stream));
  EXPECT_EQ(orders.size(), 9U);
}

TEST(Permutation, PutsEveryNumberEverywhereEquallyOften) {
  constexpr std::size_t kCount = 5;
  constexpr int kDraws = 20'000;
  std::vector<std::vector<int>> times(kCount, std::vector<int>(kCount));
  for (int draw = 0; draw < kDraws; ++draw) {
    const Indices order = permutation(kCount, 9, draw);
    for (std::size_t place = 0; place < kCount; ++place) ++times[order[place]][place];
  }
  for (const auto& row : times)
    for (const int count : row) EXPECT_NEAR(count, kDraws / kCount, 5 * 57);  // five deviations
}

TEST(Sampler, GivesTheSameGlobalBatchesToAnyNumberOfRanks) {
  for (const std::size_t samples : {1U, 7U, 24U, 101U})
    for (const std::size_t batch : {1U, 3U, 8U, 200U}) {
      Sampler one({samples, batch, 4, 0, 1});
      one.set_epoch(2);
      for (const int ranks : {2, 3, 5, 8}) {
        for (std::size_t k = 0; k < one.batches(); ++k) {
          const Indices whole = one.local_samples(k);
          EXPECT_EQ(one.global_samples(k), whole.size());
          for (Rank rank = 0; rank < ranks; ++rank) {
            Sampler sampler({samples, batch, 4, rank, ranks});
            sampler.set_epoch(2);
            EXPECT_EQ(sampler.batches(), one.batches());
            Indices expected;
            for (std::size_t i = rank; i < whole.size(); i += ranks) expected.push_back(whole[i]);
            EXPECT_EQ(sampler.local_samples(k), expected);
          }
        }
      }
    }
}

TEST(Sampler, GivesEverySampleOnceAnEpoch) {
  Sampler sampler({.samples = 101, .batch_size = 8, .seed = 1, .rank = 0, .ranks = 1});
  std::set<std::size_t> seen;
  for (std::size_t k = 0; k < sampler.batches(); ++k)
    for (const std::size_t sample : sampler.local_samples(k))
      EXPECT_TRUE(seen.insert(sample).second);
  EXPECT_EQ(seen.size(), 101U);
  EXPECT_EQ(*seen.rbegin(), 100U);
}

TEST(Sampler, ChangesTheOrderWithTheEpoch) {
  Sampler sampler({.samples = 50, .batch_size = 50, .seed = 1, .rank = 0, .ranks = 1});
  const Indices first = sampler.local_samples(0);
  sampler.set_epoch(1);
  EXPECT_NE(sampler.local_samples(0), first);
  sampler.set_epoch(0);
  EXPECT_EQ(sampler.local_samples(0), first);
}

TEST(Sampler, RefusesWhatMakesNoSense) {
  expect_error(ErrorCode::usage, {"batch size"}, [] { Sampler({5, 0, 0, 0, 1}); });
  expect_error(ErrorCode::usage, {"rank 2 of 2"}, [] { Sampler({5, 1, 0, 2, 2}); });
  Sampler sampler({.samples = 5, .batch_size = 2, .seed = 0, .rank = 0, .ranks = 1});
  expect_error(ErrorCode::usage, {"3 batches"}, [&] { sampler.local_samples(3); });
}

TEST(DistributedSampler, AgreesWithPyTorch) {
  const auto golden = testing::golden("samplers.json");
  for (const auto& order : golden.at("orders")) {
    const int ranks = order.at("ranks");
    for (Rank rank = 0; rank < ranks; ++rank) {
      DistributedSampler sampler({.samples = order.at("samples"),
                                  .ranks = ranks,
                                  .rank = rank,
                                  .shuffle = order.at("shuffle"),
                                  .seed = order.at("seed"),
                                  .drop_last = order.at("drop_last")});
      sampler.set_epoch(order.at("epoch"));
      const auto expected = order.at("indices").at(rank).get<Indices>();
      EXPECT_EQ(sampler.indices(), expected) << order.dump();
      EXPECT_EQ(sampler.size(), expected.size());
    }
  }
}

TEST(DistributedSampler, PermutesAsPyTorchDoes) {
  const auto golden = testing::golden("samplers.json");
  for (const auto& expected : golden.at("permutations")) {
    const Indices order = torch_randperm(expected.at("samples"), expected.at("seed"));
    EXPECT_EQ(digest(order), expected.at("digest").get<std::uint64_t>()) << expected.dump();
  }
}

TEST(DistributedSampler, RefusesCountsForWhichPyTorchReleasesDiffer) {
  expect_error(ErrorCode::usage, {"214748364"}, [] { torch_randperm(214'748'364, 0); });
}

}  // namespace
}  // namespace rondo::train
