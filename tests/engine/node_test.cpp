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

}  // namespace
}  // namespace rondo
