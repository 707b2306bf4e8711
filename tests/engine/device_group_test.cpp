#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

#include <rondo/communicator.hpp>

#include "device/in_use.hpp"
#include "device/memory.hpp"
#include "support/host_device.hpp"
#include "support/host_group.hpp"
#include "support/thread_communicators.hpp"
#include "support/thrown.hpp"

namespace rondo::engine {
namespace {

using namespace std::chrono_literals;
using device::Memory;
using device::MemoryKind;
using testing::errors_of_communicators;
using testing::run_communicators;
using testing::Thrown;
using testing::thrown;

constexpr int kRanks = 4;

/// Ranks that are threads, each with a device of its own, and these with collectives of their own.
class DeviceGroup : public ::testing::Test {
 protected:
  void SetUp() override {
    devices_.dawdle();
    devices_.use_groups(&groups_);
    device::use(&devices_);
  }
  void TearDown() override { device::use(nullptr); }

  Memory allocate(std::size_t count, int device) {
    return {devices_, {MemoryKind::device, device}, count * sizeof(float)};
  }
  /// Memory on the rank's own device that begins with its rank, and counts on from there.
  Memory counting(std::size_t count, int device) {
    std::vector<float> values(count);
    std::iota(values.begin(), values.end(), float(device));
    Memory memory = allocate(count, device);
    copy(memory.data(), values.data(), memory.bytes());
    return memory;
  }
  std::vector<float> contents(const Memory& memory) {
    std::vector<float> values(memory.bytes() / sizeof(float));
    copy(values.data(), memory.data(), memory.bytes());
    return values;
  }
  void copy(void* to, const void* from, std::size_t bytes) {
    const auto stream = devices_.make_stream(0);
    stream->copy(to, from, bytes);
    stream->synchronize();
  }
  std::vector<Thrown> errors(const testing::CommunicatorBody& body, const Options& options = {}) {
    std::vector<Thrown> all;
    for (const auto& error : errors_of_communicators(kRanks, body, options))
      all.push_back(thrown(error));
    return all;
  }

  testing::HostDevice devices_{kRanks};
  testing::HostGroups groups_{devices_};
};

Buffer buffer(const Memory& memory) {
  return {memory.data(), memory.bytes() / sizeof(float), DataType::float32};
}

TEST_F(DeviceGroup, ServesWhereEachRankHasADeviceOfItsOwn) {
  run_communicators(kRanks, [&](Communicator& communicator) {
    const int rank = communicator.rank();
    for (int call = 0; call < 3; ++call) {
      const Memory input = counting(5, rank);
      const Memory output = allocate(5, rank);
      communicator.allreduce(buffer(input), buffer(output), ReduceOp::avg);
      EXPECT_EQ(communicator.session().last_algorithm(), "nccl");
      EXPECT_EQ(contents(output), (std::vector<float>{1.5F, 2.5F, 3.5F, 4.5F, 5.5F}));
    }
  });
  EXPECT_EQ(groups_.calls(), 3);
}

TEST_F(DeviceGroup, ServesEveryCollectiveOfBlocksOfOneSize) {
  run_communicators(kRanks, [&](Communicator& communicator) {
    const int rank = communicator.rank();
    const auto r = float(rank);
    const Memory one = counting(1, rank);
    const Memory four = counting(kRanks, rank);
    const Memory out = allocate(kRanks, rank);
    const Memory alone = allocate(1, rank);
    communicator.reduce(buffer(four), buffer(out), ReduceOp::sum, 2);
    if (rank == 2) {
      EXPECT_EQ(contents(out), (std::vector<float>{6, 10, 14, 18}));
    }
    communicator.reduce_scatter(buffer(four), buffer(alone), ReduceOp::sum);
    EXPECT_EQ(contents(alone), std::vector<float>{6 + 4 * r});
    communicator.allgather(buffer(one), buffer(out));
    EXPECT_EQ(contents(out), (std::vector<float>{0, 1, 2, 3}));
    communicator.all_to_all(buffer(four), buffer(out));
    EXPECT_EQ(contents(out), (std::vector<float>{r, r + 1, r + 2, r + 3}));
    communicator.gather(buffer(one), buffer(out), 1);
    if (rank == 1) {
      EXPECT_EQ(contents(out), (std::vector<float>{0, 1, 2, 3}));
    }
    communicator.scatter(buffer(four), buffer(alone), 3);
    EXPECT_EQ(contents(alone), std::vector<float>{3 + r});
    communicator.broadcast(buffer(four), 3);
    EXPECT_EQ(contents(four), (std::vector<float>{3, 4, 5, 6}));
  });
  EXPECT_EQ(groups_.calls(), 7);
}

TEST_F(DeviceGroup, LeavesToTheHostWhatDoesNotKeepTheContracts) {
  run_communicators(kRanks, [&](Communicator& communicator) {
    const Memory data = counting(5, communicator.rank());
    communicator.allreduce(buffer(data), buffer(data), ReduceOp::max);
    EXPECT_NE(communicator.session().last_algorithm(), "nccl");
    EXPECT_EQ(contents(data), (std::vector<float>{3, 4, 5, 6, 7}));
    communicator.allreduce(buffer(data), buffer(data), ReduceOp::sum, {.deterministic = true});
    EXPECT_NE(communicator.session().last_algorithm(), "nccl");
  });
  EXPECT_EQ(groups_.calls(), 0);
}

TEST_F(DeviceGroup, IsLeftAloneWhereRanksShareADevice) {
  run_communicators(kRanks, [&](Communicator& communicator) {
    const Memory data = counting(3, communicator.rank() / 2);
    communicator.allreduce(buffer(data), buffer(data), ReduceOp::sum);
    EXPECT_EQ(contents(data), (std::vector<float>{2, 6, 10}));
  });
  EXPECT_EQ(groups_.calls(), 0);
}

TEST_F(DeviceGroup, IsLeftAloneByAllRanksWhereNoneCanBeMade) {
  groups_.refuse_ids();
  ::testing::internal::CaptureStderr();
  run_communicators(kRanks, [&](Communicator& communicator) {
    for (int round = 0; round < 2; ++round) {
      const Memory data = counting(3, communicator.rank());
      communicator.allreduce(buffer(data), buffer(data), ReduceOp::sum);
      EXPECT_EQ(contents(data), (std::vector<float>{6, 10, 14}));
    }
  });
  EXPECT_EQ(groups_.calls(), 0);
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("no group can be made"), std::string::npos) << said;
}

TEST_F(DeviceGroup, IsRefusedByNameInDeterministicModeAndWhereItCannotBe) {
  for (const Thrown& error : errors([&](Communicator& communicator) {
         const Memory data = counting(3, communicator.rank());
         communicator.allreduce(buffer(data), buffer(data), ReduceOp::sum,
                                {.algorithm = "nccl", .deterministic = true});
       })) {
    EXPECT_EQ(error.code, ErrorCode::usage);
    EXPECT_TRUE(error.mentions("nccl") && error.mentions("deterministic")) << error;
  }
  for (const Thrown& error : errors([&](Communicator& communicator) {
         const Memory data = counting(3, 0);
         communicator.allreduce(buffer(data), buffer(data), ReduceOp::sum, {.algorithm = "nccl"});
       })) {
    EXPECT_EQ(error.code, ErrorCode::usage);
    EXPECT_TRUE(error.mentions("a device of its own")) << error;
  }
}

TEST_F(DeviceGroup, IsNotEnteredByRanksThatDisagree) {
  for (const bool met : {false, true})
    for (const Thrown& error : errors([&](Communicator& communicator) {
           const int rank = communicator.rank();
           const Memory data = counting(8, rank);
           if (met) communicator.allreduce(buffer(data), buffer(data), ReduceOp::sum);
           const std::size_t count = rank == 1 ? 7 : 8;
           const Buffer part(data.data(), count, DataType::float32);
           communicator.allreduce(part, part, ReduceOp::sum);
         })) {
      EXPECT_EQ(error.code, ErrorCode::mismatch);
      EXPECT_TRUE(error.mentions("rank 1") && error.mentions("7")) << error;
    }
  EXPECT_EQ(groups_.calls(), 1);
}

TEST_F(DeviceGroup, FailsByItsDeadlineIfARankNeverJoins) {
  groups_.lose(2);
  for (const Thrown& error : errors(
           [&](Communicator& communicator) {
             const Memory data = counting(3, communicator.rank());
             communicator.allreduce(buffer(data), buffer(data), ReduceOp::sum);
           },
           {.timeout = 50ms})) {
    EXPECT_EQ(error.code, ErrorCode::timeout);
    EXPECT_TRUE(error.mentions("joined host groups") && error.mentions("RONDO_NCCL")) << error;
  }
  EXPECT_EQ(groups_.aborts(), kRanks);
}

TEST_F(DeviceGroup, AbortsOnAllRanksWhenACallFailsLate) {
  for (const Thrown& error : errors([&](Communicator& communicator) {
         const Memory data = counting(3, communicator.rank());
         communicator.allreduce(buffer(data), buffer(data), ReduceOp::sum);
         communicator.barrier();
         if (communicator.rank() == 0) {
           groups_.stall_call(0);
           groups_.fail_call(1);
         }
         communicator.barrier();
         communicator.allreduce(buffer(data), buffer(data), ReduceOp::sum);
         communicator.barrier();
       })) {
    EXPECT_EQ(error.code, ErrorCode::nccl);
    EXPECT_TRUE(error.mentions("injected")) << error;
  }
  EXPECT_GE(groups_.aborts(), 2);
}

}  // namespace
}  // namespace rondo::engine
