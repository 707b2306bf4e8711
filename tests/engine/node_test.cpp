#include <chrono>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rondo/communicator.hpp>
#include <rondo/shared_buffer.hpp>

#include "support/shared_mappings.hpp"
#include "support/thread_communicators.hpp"
#include "transport/shm_heap.hpp"
#include "transport/shm_segment.hpp"

// What becomes of the memory that ranks of a node share.
namespace rondo {
namespace {

using namespace std::chrono_literals;
using transport::Topology;

/// No segment of more bytes can be made while this lives.
class NoRoomBeyond {
 public:
  explicit NoRoomBeyond(std::size_t bytes) { transport::limit_segments(bytes); }
  ~NoRoomBeyond() { transport::limit_segments(std::numeric_limits<std::size_t>::max()); }
  NoRoomBeyond(const NoRoomBeyond&) = delete;
  NoRoomBeyond& operator=(const NoRoomBeyond&) = delete;
};

constexpr std::size_t kArenaOnly = std::size_t{1200} * 1024;  // an arena fits, and little besides

void sum(Communicator& world, std::size_t count) {
  std::vector<float> data(count, 1.0F);
  world.allreduce(std::span(data), ReduceOp::sum);
  for (const float value : data) ASSERT_EQ(value, static_cast<float>(world.size()));
}

std::size_t occurrences(const std::string& text, const std::string& words) {
  std::size_t count = 0;
  for (std::size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1))
    ++count;
  return count;
}

Topology two_nodes() { return Topology({0, 0, 1, 1}); }

TEST(Node, ItsMemoryGoesWithItsCommunicator) {
  transport::SharedHeap::instance();  // has memory of its own
  const std::size_t before = testing::shared_mappings();
  for (const Topology& topology : {Topology::one_node(3), two_nodes()}) {
    transport::ThreadWorld world(topology);
    testing::run_communicators(world, [&](Communicator& communicator) {
      sum(communicator, 300'000);
      EXPECT_GE(testing::shared_mappings(), before + 1);
    });
    EXPECT_EQ(testing::shared_mappings(), before);
  }
}

/// Sends of a failed operation may read the lanes' memory at any time.
TEST(Node, OfAFailedCommunicatorItsMemoryStays) {
  const std::size_t before = testing::shared_mappings();
  transport::ThreadWorld world(two_nodes());
  const auto errors = testing::errors_of_ranks(world, [&](transport::Transport& transport) {
    Communicator communicator = testing::make_communicator(transport.split(0, transport.rank()));
    sum(communicator, 300'000);
    sum(communicator, communicator.rank() == 2 ? 300'001 : 300'000);
  });
  for (const auto& error : errors) EXPECT_TRUE(error);
  EXPECT_GE(testing::shared_mappings(), before + 8) << "four areas and four lanes";
}

TEST(Node, WithoutRoomForAnArenaRanksSendMessagesAndOneSaysSo) {
  const NoRoomBeyond room(1000);
  ::testing::internal::CaptureStderr();
  transport::ThreadWorld world(two_nodes());
  testing::run_communicators(world, [](Communicator& communicator) {
    for (int round = 0; round < 3; ++round) {
      Communicator part = communicator.split(round == 0 ? 0 : communicator.rank() / 2);
      sum(part, 10'000);
      EXPECT_EQ(part.last_algorithm().find("node"), std::string_view::npos);
    }
    sum(communicator, 10);
  });
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(occurrences(said, "send messages instead"), 1U) << said;
}

TEST(Node, WithoutRoomForBuffersCollectivesCopy) {
  const NoRoomBeyond room(kArenaOnly);
  ::testing::internal::CaptureStderr();
  testing::run_communicators(3, [](Communicator& world) {
    SharedBuffer<float> large(world, 500'000);
    for (float& value : large.span()) value = 1.0F;
    world.allreduce(large.span(), ReduceOp::sum);
    for (const float value : large.span()) ASSERT_EQ(value, 3.0F);
    EXPECT_EQ(world.last_algorithm(), "node, copying");
  });
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(occurrences(said, "ordinary memory is used instead"), 1U) << said;
}

/// The lanes' ranks, all or one of them, then have memory that the others can't map.
TEST(Node, WithoutRoomForLanesAllSlicesArePassedOn) {
  constexpr std::size_t kShare = 400'000;  // floats of the first lane; the other one has 16 less
  const NoRoomBeyond restored(std::numeric_limits<std::size_t>::max());
  for (const Topology& topology : {two_nodes(), Topology({0, 1, 0, 1, 0})})
    for (const std::size_t room : {std::size_t{1000}, kShare * sizeof(float) - 1}) {
      transport::ThreadWorld world(topology);
      testing::run_communicators(world, [&](Communicator& communicator) {
        communicator.barrier();  // the arenas exist
        transport::limit_segments(room);
        for (int round = 0; round < 3; ++round) {
          std::vector<float> data(2 * kShare - 16);
          for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i % 1009);
          communicator.allreduce(std::span(data), ReduceOp::sum);
          EXPECT_EQ(communicator.last_algorithm(), "hierarchical");
          for (std::size_t i = 0; i < data.size(); ++i)
            ASSERT_EQ(data[i],
                      static_cast<float>(communicator.size()) * static_cast<float>(i % 1009));
        }
      });
      transport::limit_segments(std::numeric_limits<std::size_t>::max());
    }
}

TEST(Node, TheWayFollowsFromTheMemoryOfAllRanks) {
  testing::run_communicators(3, [](Communicator& world) {
    constexpr std::size_t kCount = 50'000;
    SharedBuffer<float> shared(world, kCount);
    std::vector<float> ordinary(kCount);
    const auto way = [&](bool is_shared) {
      world.allreduce(is_shared ? shared.span() : std::span(ordinary), ReduceOp::sum);
      return std::string(world.last_algorithm());
    };
    EXPECT_EQ(way(true), "node, direct");
    EXPECT_EQ(way(false), "node, copying");
    for (Rank odd = 0; odd < world.size(); ++odd) {
      EXPECT_EQ(way(world.rank() == odd), "node, copying") << "only rank " << odd << " shares";
      EXPECT_EQ(way(world.rank() != odd), "node, copying") << "only rank " << odd << " does not";
    }
    EXPECT_EQ(way(true), "node, direct");
  });
}

/// A segment may be gone and another there, at its address and under its descriptor.
TEST(Node, BuffersMayBeFreedAndMadeAgainBetweenCalls) {
  testing::run_communicators(3, [](Communicator& world) {
    for (std::size_t round = 1; round < 40; ++round) {
      const std::size_t count = 100'000 + 1'000 * (round % 7);
      SharedBuffer<std::int32_t> data(world, count);
      for (std::size_t i = 0; i < count; ++i)
        data[i] = static_cast<std::int32_t>(i * round) + world.rank();
      world.allreduce(data.span(), ReduceOp::sum);
      EXPECT_EQ(world.last_algorithm(), "node, direct");
      for (std::size_t i = 0; i < count; i += 97)
        ASSERT_EQ(data[i], static_cast<std::int32_t>(3 * i * round) + 3) << i << " in " << round;
    }
  });
}

/// As its allocator moves it, alone, from small shared pieces to segments of its own.
TEST(Node, OneRanksVectorMayGrow) {
  testing::run_communicators(3, [](Communicator& world) {
    std::vector<double, SharedAllocator<double>> data;
    if (world.rank() != 1) data.reserve(200'000);
    for (std::size_t count = 100; count < 200'000; count = count * 3 / 2) {
      data.assign(count, static_cast<double>(world.rank()));
      if (world.rank() == 1) data.shrink_to_fit();
      world.allreduce(std::span<double>(data), ReduceOp::sum);
      for (const double value : data) ASSERT_EQ(value, 3.0) << count;
    }
    EXPECT_EQ(world.last_algorithm(), "node, direct");
  });
}

/// Elements that tell rank, round and place.
std::int32_t element(Rank rank, int round, std::size_t i) {
  return static_cast<std::int32_t>(i * 3) + 1'000'003 * round + 17 * rank;
}

void fill(std::span<std::int32_t> data, Rank rank, int round) {
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = element(rank, round, i);
}

void expect_sums(std::span<const std::int32_t> data, int ranks, int round, std::size_t first) {
  for (std::size_t i = 0; i < data.size(); ++i)
    ASSERT_EQ(data[i], ranks * element(0, round, first + i) + 17 * ranks * (ranks - 1) / 2) << i;
}

void expect_of_rank(std::span<const std::int32_t> data, Rank rank, int round) {
  for (std::size_t i = 0; i < data.size(); ++i) ASSERT_EQ(data[i], element(rank, round, i)) << i;
}

/// One of each kind, on messages of many pieces; what it works on is the caller's again at once.
void round_of_collectives(Communicator& world, std::span<std::int32_t> data, int round) {
  const int ranks = world.size();
  const Rank root = round % ranks;
  const std::size_t share = data.size() / static_cast<std::size_t>(ranks);
  const std::size_t first = share * static_cast<std::size_t>(world.rank());
  std::vector<std::int32_t> block(share);
  fill(data, world.rank(), round);
  world.allreduce(data, ReduceOp::sum);
  expect_sums(data, ranks, round, 0);
  fill(data, world.rank(), round + 1);
  world.broadcast(data, root);
  expect_of_rank(data, root, round + 1);
  fill(data, world.rank(), round + 2);
  world.reduce_scatter(Buffer(data), Buffer(std::span(block)), ReduceOp::sum);
  expect_sums(block, ranks, round + 2, first);
  fill(block, world.rank(), round);
  world.allgather(Buffer(std::span(block)), Buffer(data));
  for (Rank rank = 0; rank < ranks; ++rank)
    expect_of_rank(data.subspan(share * static_cast<std::size_t>(rank), share), rank, round);
  fill(data, world.rank(), round);
  world.reduce(Buffer(data), world.rank() == root ? Buffer(data) : Buffer(), ReduceOp::sum, root);
  if (world.rank() == root) expect_sums(data, ranks, round, 0);
}

/// Several times round the ring of stages, where waits matter that shorter messages never come to.
TEST(Node, LongMessagesAreRightWhateverTheTiming) {
  for (const std::uint64_t seed : {0, 1, 2, 3}) {
    transport::ThreadWorld world(3, {.delay_seed = seed});
    testing::run_communicators(world, [](Communicator& communicator) {
      std::vector<std::int32_t> ordinary(255'000);
      SharedBuffer<std::int32_t> shared(communicator, ordinary.size());
      for (int round = 0; round < 2; ++round) {
        round_of_collectives(communicator, ordinary, round);
        round_of_collectives(communicator, shared.span(), round);
      }
    });
  }
}

}  // namespace
}  // namespace rondo
