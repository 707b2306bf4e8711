#include "train/bucket_shards.hpp"

#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

namespace rondo::train {
namespace {

using Counts = std::vector<std::size_t>;

TEST(ShardCounts, CutWhereBlocksOfParametersBegin) {
  EXPECT_EQ(shard_counts(Counts{100}, 2, 10), (Counts{50, 50}));
  EXPECT_EQ(shard_counts(Counts{100}, 3, 10), (Counts{30, 40, 30}));
  EXPECT_EQ(shard_counts(Counts{25, 100}, 2, 10), (Counts{65, 60})) << "25 + 4 blocks";
  EXPECT_EQ(shard_counts(Counts{4, 3}, 2, 10), (Counts{4, 3}));
  EXPECT_EQ(shard_counts(Counts{7}, 1, 10), (Counts{7}));
}

TEST(ShardCounts, LeaveRanksWithoutElementsWhereThereAreFewBlocks) {
  EXPECT_EQ(shard_counts(Counts{7}, 3, 10), (Counts{0, 7, 0}));
  EXPECT_EQ(shard_counts(Counts{}, 2, 10), (Counts{0, 0}));
  EXPECT_EQ(shard_counts(Counts{0, 0}, 2, 10), (Counts{0, 0}));
}

TEST(ShardCounts, AreEqualButForABlockAndCoverEverything) {
  const Counts parameters{12'345, 1, 1'000'000, 0, 4096, 77};
  const std::size_t total = std::accumulate(parameters.begin(), parameters.end(), std::size_t{0});
  for (const int ranks : {1, 2, 3, 5, 8, 64}) {
    const Counts counts = shard_counts(parameters, ranks, 1024);
    EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), std::size_t{0}), total);
    const auto [least, most] = std::ranges::minmax(counts);
    EXPECT_LE(most - least, 2048U) << ranks;
  }
}

}  // namespace
}  // namespace rondo::train
