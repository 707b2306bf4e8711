#include "collectives/shared_stores.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace rondo::collectives {
namespace {

constexpr std::size_t kBytes = 8192;
constexpr double kQuick = kBytes / 7e9;  // seconds
constexpr double kSlow = kBytes / 1.8e9;

/// Plain copies among so many, each of which takes that long.
int plain_ones(StoreChoice& choice, int copies, double seconds) {
  int plain = 0;
  for (int i = 0; i < copies; ++i)
    if (choice.is_next_plain()) {
      choice.time(kBytes, seconds);
      ++plain;
    }
  return plain;
}

TEST(StoreChoice, QuickStoresStayPlain) {
  StoreChoice choice;
  EXPECT_EQ(plain_ones(choice, 1'000, kQuick), 1'000);
  EXPECT_FALSE(choice.stream());
}

TEST(StoreChoice, OneSlowCopyMayHaveBeenInterrupted) {
  StoreChoice choice;
  for (int i = 0; i < 100; ++i) {
    choice.time(kBytes, kSlow);
    EXPECT_FALSE(choice.stream());
    choice.time(kBytes, kQuick);
  }
}

TEST(StoreChoice, TwoSlowCopiesInARowGoPastTheCaches) {
  StoreChoice choice;
  EXPECT_EQ(plain_ones(choice, 2, kSlow), 2);
  EXPECT_TRUE(choice.stream());
  EXPECT_EQ(plain_ones(choice, 255, kSlow), 0);
}

TEST(StoreChoice, LooksNowAndThenWhetherThatStillHolds) {
  StoreChoice choice;
  plain_ones(choice, 2, kSlow);
  EXPECT_EQ(plain_ones(choice, 2'560, kSlow), 10);
  EXPECT_TRUE(choice.stream());
  EXPECT_EQ(plain_ones(choice, 256, kQuick), 1);
  EXPECT_FALSE(choice.stream()) << "a quick one brings plain stores back at once";
  EXPECT_EQ(plain_ones(choice, 100, kQuick), 100);
}

TEST(SharedStores, CopyWhateverTheChoice) {
  SharedStores stores;
  for (int round = 0; round < 600; ++round)
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{100}, std::size_t{5'003}}) {
      const std::vector<char> source(bytes, static_cast<char>(round));
      std::vector<char> target(bytes + 1, 'x');
      stores.copy(source.data(), target.data(), bytes);
      ASSERT_TRUE(std::equal(source.begin(), source.end(), target.begin())) << bytes;
      ASSERT_EQ(target.back(), 'x');
    }
}

}  // namespace
}  // namespace rondo::collectives
