#include "transport/node_arena.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <rondo/error.hpp>

#include "support/shared_mappings.hpp"
#include "transport/late_views.hpp"

namespace rondo::transport {
namespace {

using Offers = std::vector<NodeArena::Offer>;

Offers offers_of(std::vector<NodeArena>& arenas) {
  Offers offers;
  for (const NodeArena& arena : arenas) offers.push_back(arena.offer());
  return offers;
}

std::vector<NodeArena> joined(int ranks) {
  std::vector<NodeArena> arenas(static_cast<std::size_t>(ranks));
  const Offers offers = offers_of(arenas);
  for (int rank = 0; rank < ranks; ++rank)
    arenas[static_cast<std::size_t>(rank)].join(offers, rank);
  return arenas;
}

TEST(NodeArena, EveryRankSeesWhatAnOwnerWrites) {
  std::vector<NodeArena> arenas = joined(3);
  for (NodeArena& arena : arenas) {
    EXPECT_EQ(arena.size(), 3);
    arena.mine().staged.value = static_cast<std::uint64_t>(arena.self()) + 10;
  }
  for (NodeArena& arena : arenas)
    for (int rank = 0; rank < 3; ++rank) {
      EXPECT_TRUE(arena.has_reached(arena.of(rank).staged.value, 10 + rank));
      EXPECT_FALSE(arena.has_reached(arena.of(rank).staged.value, 11 + rank));
    }
}

using Clock = std::chrono::steady_clock;

/// The shortest time of 20 sleeps of rank 0, in each of which rank 1 does `meanwhile`.
template <class Meanwhile>
Clock::duration shortest_sleep(NodeArena& sleeper, Meanwhile meanwhile) {
  auto shortest = Clock::duration::max();
  for (int i = 0; i < 20; ++i) {
    sleeper.sleep();  // announces it
    std::thread other(meanwhile);
    const auto start = Clock::now();
    sleeper.sleep();
    shortest = std::min(shortest, Clock::now() - start);
    other.join();
  }
  return shortest;
}

constexpr std::chrono::milliseconds kUnrung{1};

TEST(NodeArena, SleepsForAMillisecondUnlessWoken) {
  std::vector<NodeArena> arenas = joined(2);
  EXPECT_GE(shortest_sleep(arenas[0], [] {}), kUnrung);
}

TEST(NodeArena, ARaisedNumberWakesWhoSleeps) {
  std::vector<NodeArena> arenas = joined(2);
  std::uint64_t value = 0;
  const auto raise = [&] {
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    arenas[1].raise(arenas[1].mine().staged.value, ++value);
  };
  EXPECT_LT(shortest_sleep(arenas[0], raise), kUnrung);
  EXPECT_TRUE(arenas[0].has_reached(arenas[1].mine().staged.value, 20));
}

TEST(NodeArena, ANumberRaisedInAFurtherArenaWakesTheSameRank) {
  std::vector<NodeArena> arenas = joined(2);
  for (NodeArena& arena : arenas) arena.claim_more();
  const auto slot = arenas[1].more(0);
  std::uint64_t value = 0;
  EXPECT_LT(
      shortest_sleep(*arenas[0].more(1), [&] { slot->raise(slot->mine().staged.value, ++value); }),
      kUnrung);
}

TEST(NodeArena, ANumberRaisedBetweenAnnouncementAndSleepIsNotMissed) {
  std::vector<NodeArena> arenas = joined(2);
  arenas[0].sleep();  // announces it
  arenas[1].raise(arenas[1].mine().staged.value, 1);
  const auto start = Clock::now();
  arenas[0].sleep();  // announces the next one
  EXPECT_LT(Clock::now() - start, kUnrung);
}

TEST(NodeArena, BeginsWithZeros) {
  std::vector<NodeArena> arenas = joined(1);
  const NodeArea& area = arenas[0].mine();
  for (const Arrival& arrival : area.arrivals) EXPECT_EQ(arrival.count, 0U);
  for (const WatchedCounter* counter :
       {&area.staged, &area.reduced, &area.fetched, &area.published, &area.collected})
    EXPECT_EQ(counter->value, 0U);
}

TEST(NodeArena, LeavesNothingBehind) {
  const std::size_t mappings = testing::shared_mappings();
  const std::size_t files = testing::open_files();
  joined(4);
  EXPECT_EQ(testing::shared_mappings(), mappings);
  EXPECT_EQ(testing::open_files(), files);
}

TEST(NodeArena, IsCrowdedWhenTheRanksOutnumberTheirProcessors) {
  NodeArena arena;
  NodeArena::Offer offer = arena.offer();
  const auto crowded = [&](std::uint64_t first, std::uint64_t second) {
    Offers offers{offer, offer};
    offers[0].processors = {first};
    offers[1].processors = {second};
    arena.join(offers, 0);
    return arena.crowded();
  };
  EXPECT_TRUE(crowded(1, 1));
  EXPECT_FALSE(crowded(1, 2));
  EXPECT_FALSE(crowded(3, 3));
}

TEST(NodeArena, MoreRanksThanHaveRoomInAStageAreRefused) {
  NodeArena arena;
  const auto join = [&](int ranks) {
    arena.join(Offers(static_cast<std::size_t>(ranks), arena.offer()), 0);
  };
  EXPECT_NO_THROW(join(NodeArena::kMostRanks));
  try {
    join(NodeArena::kMostRanks + 1);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::system);
    EXPECT_NE(std::string(error.what()).find("514 ranks are on one node, and at most 513"),
              std::string::npos)
        << error.what();
  }
}

TEST(NodeArena, AnAreaThatIsGoneIsAnError) {
  NodeArena arena;
  Offers offers{arena.offer()};
  offers.push_back(NodeArena().offer());
  EXPECT_THROW(arena.join(offers, 0), Error);
}

TEST(LateViews, SeeEveryChangeLateAndNoneTwice) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    LateViews views(seed);
    std::atomic<std::uint64_t> number = 0;
    EXPECT_EQ(views.look_at(number), 0U);
    for (std::uint64_t value = 1; value < 100; ++value) {
      number = value;
      EXPECT_LT(views.look_at(number), value) << "at once";
      int looks = 1;
      std::uint64_t seen = 0;
      while ((seen = views.look_at(number)) < value) ASSERT_LT(++looks, 1'000);
      EXPECT_EQ(seen, value);
    }
  }
}

}  // namespace
}  // namespace rondo::transport
