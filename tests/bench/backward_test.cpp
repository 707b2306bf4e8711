#include "backward.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace rondo::bench {
namespace {

constexpr int kRanks = 3;
constexpr std::size_t kCount = 5000;  // more than the numbers' period
constexpr std::size_t kLayer = 4;
constexpr std::uint64_t kTurn = 7;

std::vector<float> written(Rank rank, std::size_t layer = kLayer, std::uint64_t turn = kTurn) {
  std::vector<float> gradient(kCount);
  write_gradient(gradient, layer, turn, rank);
  return gradient;
}

std::vector<float> mean(std::size_t layer = kLayer, std::uint64_t turn = kTurn) {
  std::vector<float> sum(kCount);
  for (Rank rank = 0; rank < kRanks; ++rank) {
    const auto one = written(rank, layer, turn);
    for (std::size_t i = 0; i < kCount; ++i) sum[i] += one[i] / kRanks;
  }
  return sum;
}

std::size_t wrong(const std::vector<float>& gradient) {
  return count_wrong(gradient, kLayer, kTurn, kRanks);
}

TEST(Backward, TheMeanOfAllRanksIsRight) { EXPECT_EQ(wrong(mean()), 0U); }

TEST(Backward, WhatIsNotTheMeanIsWrong) {
  for (Rank rank : {0, 2}) EXPECT_EQ(wrong(written(rank)), kCount) << "own gradient";
  EXPECT_EQ(wrong(mean(kLayer + 1)), kCount) << "another layer's";
  EXPECT_EQ(wrong(mean(kLayer, kTurn + 1)), kCount) << "another turn's";
}

TEST(Backward, SingleElementsAndShiftsAreFound) {
  auto gradient = mean();
  gradient[0] = std::numeric_limits<float>::quiet_NaN();
  gradient.back() += 1;
  EXPECT_EQ(wrong(gradient), 2U);
  gradient = mean();
  std::rotate(gradient.begin(), gradient.begin() + 1024, gradient.end());
  EXPECT_GT(wrong(gradient), kCount / 2);
}

TEST(Backward, EdgesOfAModelAreSmall) {
  const ModelShape shape{.layers = 4, .layer_bytes = 400, .edge_bytes = 40};
  EXPECT_EQ(shape.counts(), (std::vector<std::size_t>{10, 100, 100, 10}));
}

}  // namespace
}  // namespace rondo::bench
