#include <gtest/gtest.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <rondo/communicator.hpp>

#include "device/in_use.hpp"
#include "device/memory.hpp"
#include "support/host_device.hpp"
#include "support/thread_communicators.hpp"
#include "support/thrown.hpp"

// All-reduce by devices that reach each other's memory, on threads as ranks.
namespace rondo::engine {
namespace {

using device::Memory;
using device::MemoryKind;
using testing::errors_of_communicators;
using testing::run_communicators;
using testing::Thrown;

class PeerOperationTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    devices_.dawdle();
    device::use(&devices_);
  }
  void TearDown() override { device::use(nullptr); }

  Options options() const { return {.algorithm = GetParam()}; }
  Memory allocate(std::size_t count) {
    return {devices_, {MemoryKind::device, 0}, count * sizeof(float)};
  }
  void copy(void* to, const void* from, std::size_t bytes) {
    const auto stream = devices_.make_stream(0);
    stream->copy(to, from, bytes);
    stream->synchronize();
  }
  /// On device memory that begins one element behind an allocation's beginning.
  std::vector<float> allreduce(Communicator& communicator, const std::vector<float>& values,
                               const Options& options, bool in_place) {
    const std::size_t bytes = values.size() * sizeof(float);
    const Memory from = allocate(values.size() + 1);
    const Memory into = allocate(values.size() + 1);
    const Memory& to = in_place ? from : into;
    copy(from.data() + sizeof(float), values.data(), bytes);
    communicator.allreduce(ConstBuffer(from.data() + sizeof(float), values.size(), kType),
                           Buffer(to.data() + sizeof(float), values.size(), kType), ReduceOp::avg,
                           options);
    std::vector<float> result(values.size());
    copy(result.data(), to.data() + sizeof(float), bytes);
    return result;
  }
  std::vector<Thrown> errors(const testing::CommunicatorBody& body) {
    std::vector<Thrown> all;
    for (const auto& error : errors_of_communicators(2, body))
      all.push_back(testing::thrown(error));
    return all;
  }

  static constexpr DataType kType = DataType::float32;
  testing::HostDevice devices_{2};
};

std::vector<float> values_of(Rank rank, std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = 1.0F / float(1 + (i * 7 + std::size_t(rank) * 13) % 1001);
  return values;
}

TEST_P(PeerOperationTest, GivesTheBitsOfTheHost) {
  for (const int ranks : {2, 3, 5})
    run_communicators(ranks, [&](Communicator& communicator) {
      for (const std::size_t count : {std::size_t{1}, std::size_t{193}, std::size_t{40'001}})
        for (const bool in_place : {true, false}) {
          const std::vector<float> values = values_of(communicator.rank(), count);
          std::vector<float> expected = values;
          communicator.allreduce(std::span(expected), ReduceOp::avg);
          EXPECT_TRUE(allreduce(communicator, values, options(), in_place) == expected) << count;
          EXPECT_EQ(communicator.last_algorithm(), GetParam());
        }
    });
}

TEST_P(PeerOperationTest, MemoryThatIsFreedAndAllocatedAgainIsNotTakenForTheFormer) {
  run_communicators(2, [&](Communicator& communicator) {
    for (int round = 0; round < 20; ++round) {
      const std::vector<float> values(300, float(round + communicator.rank()));
      const std::vector<float> expected(300, float(round) + 0.5F);
      EXPECT_TRUE(allreduce(communicator, values, options(), round % 2 == 0) == expected) << round;
    }
  });
  EXPECT_EQ(devices_.allocations(), 0U);
}

TEST_P(PeerOperationTest, OneRanksMemoryThatCanNotBeSharedRefusesWhatTheCallAsksFor) {
  for (const Thrown& error : errors([&](Communicator& communicator) {
         const Memory memory = allocate(8);
         if (communicator.rank() == 1) devices_.keep_private(memory.data());
         const Buffer buffer(memory.data(), 8, kType);
         communicator.allreduce(buffer, buffer, ReduceOp::sum, options());
       })) {
    EXPECT_EQ(error.code, ErrorCode::usage);
    EXPECT_TRUE(error.mentions("memory from a pool can't be")) << error;
  }
}

TEST_P(PeerOperationTest, WorkThatFailsLateFailsAllRanks) {
  for (const Thrown& error : errors([&](Communicator& communicator) {
         const Memory memory = allocate(8);
         communicator.barrier();
         if (communicator.rank() == 0) devices_.fail_reduction(0);
         communicator.barrier();
         const Buffer buffer(memory.data(), 8, kType);
         communicator.allreduce(buffer, buffer, ReduceOp::sum, options());
         communicator.barrier();
       }))
    EXPECT_TRUE(error.mentions("a reduction failed: injected")) << error;
}

TEST_P(PeerOperationTest, ARankThatCallsSomethingElseIsNamed) {
  for (const Thrown& error : errors([&](Communicator& communicator) {
         const Memory memory = allocate(8);
         const Buffer buffer(memory.data(), communicator.rank() == 0 ? 8 : 7, kType);
         communicator.allreduce(buffer, buffer, ReduceOp::sum, options());
       })) {
    EXPECT_EQ(error.code, ErrorCode::mismatch);
    EXPECT_TRUE(error.mentions("of 8 float32")) << error;
    EXPECT_TRUE(error.mentions("of 7 float32")) << error;
  }
}

TEST_P(PeerOperationTest, ARankThatFailsBeforeItComesEndsTheWaitOfTheOthers) {
  for (const Thrown& error : errors([&](Communicator& communicator) {
         const Memory memory = allocate(8);
         const Buffer buffer(memory.data(), 8, kType);
         const Buffer none(nullptr, 8, kType);
         communicator.allreduce(communicator.rank() == 0 ? buffer : none, buffer, ReduceOp::sum,
                                options());
       })) {
    EXPECT_EQ(error.code, ErrorCode::usage);
    EXPECT_TRUE(error.mentions("but its output in memory of host device")) << error;
  }
}

INSTANTIATE_TEST_SUITE_P(Shots, PeerOperationTest,
                         ::testing::Values("device_one_shot", "device_two_shot"),
                         [](const auto& shots) { return shots.param; });

class PeerFallback : public PeerOperationTest {};
INSTANTIATE_TEST_SUITE_P(Host, PeerFallback, ::testing::Values(""),
                         [](const auto&) { return "way"; });

TEST_P(PeerFallback, MemoryThatOneRankCanNotShareIsStaged) {
  run_communicators(2, [&](Communicator& communicator) {
    const std::vector<float> ones(8, 1.0F);
    std::vector<float> result(8);
    for (const bool pooled : {true, false}) {
      const Memory memory = allocate(8);
      if (pooled && communicator.rank() == 1) devices_.keep_private(memory.data());
      copy(memory.data(), ones.data(), memory.bytes());
      const Buffer buffer(memory.data(), 8, kType);
      communicator.allreduce(buffer, buffer, ReduceOp::sum);
      copy(result.data(), memory.data(), memory.bytes());
      EXPECT_EQ(result, std::vector<float>(8, 2.0F));
      EXPECT_EQ(communicator.last_algorithm() == "device_one_shot", !pooled)
          << communicator.last_algorithm();
    }
  });
}

TEST_P(PeerFallback, ARankThatCanNotOpenTheOthersMemoryMakesAllStage) {
  devices_.fail_open(0);
  run_communicators(3, [&](Communicator& communicator) {
    for (int round = 0; round < 2; ++round) {
      const std::vector<float> values(70'000, float(communicator.rank()));
      const std::vector<float> expected(70'000, 1.0F);
      EXPECT_TRUE(allreduce(communicator, values, {}, round == 0) == expected);
      EXPECT_NE(communicator.last_algorithm(), "device_two_shot");
    }
  });
}

}  // namespace
}  // namespace rondo::engine
