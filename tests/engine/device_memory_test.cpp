#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include <rondo/communicator.hpp>

#include "device/in_use.hpp"
#include "device/memory.hpp"
#include "support/host_device.hpp"
#include "support/thread_communicators.hpp"
#include "support/thrown.hpp"

namespace rondo::engine {
namespace {

using device::Memory;
using device::MemoryKind;
using testing::errors_of_communicators;
using testing::run_communicators;
using testing::Thrown;
using testing::thrown;

/// Ranks that are threads, and devices that are as well.
class DeviceMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    devices_.dawdle();
    device::use(&devices_);
  }
  void TearDown() override { device::use(nullptr); }

  Memory allocate(std::size_t count, MemoryKind kind = MemoryKind::device, int device = 0) {
    return {devices_, {kind, device}, count * sizeof(float)};
  }
  void copy(void* to, const void* from, std::size_t bytes) {
    const auto stream = devices_.make_stream(0);
    stream->copy(to, from, bytes);
    stream->synchronize();
  }
  /// What each of `ranks` ranks throws in `body`.
  std::vector<Thrown> errors(int ranks, const testing::CommunicatorBody& body) {
    std::vector<Thrown> all;
    for (const auto& error : errors_of_communicators(ranks, body)) all.push_back(thrown(error));
    return all;
  }

  testing::HostDevice devices_{2};
};

const Options kThroughHost{.algorithm = "node"};

Buffer buffer(const Memory& memory) {
  return {memory.data(), memory.bytes() / sizeof(float), DataType::float32};
}

TEST_F(DeviceMemory, AllreduceAddsWhatLiesThere) {
  const std::size_t kChunk = core::Settings().staging_bytes / sizeof(float);
  for (const int ranks : {1, 3})
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, 2 * kChunk + 3}) {
      run_communicators(ranks, [&](Communicator& communicator) {
        std::vector<float> values(count);
        std::iota(values.begin(), values.end(), float(communicator.rank()));
        const Memory input = allocate(count);
        const Memory output = allocate(count);
        copy(input.data(), values.data(), input.bytes());
        communicator.allreduce(buffer(input), buffer(output), ReduceOp::sum);

        std::vector<float> result(count);
        copy(result.data(), output.data(), output.bytes());
        const float of_ranks = float(ranks * (ranks - 1)) / 2;
        for (std::size_t i = 0; i < count; ++i)
          ASSERT_EQ(result[i], float(ranks) * float(i) + of_ranks) << i;
      });
    }
}

TEST_F(DeviceMemory, AllreduceInPlaceOnAnotherDevice) {
  run_communicators(2, [&](Communicator& communicator) {
    const float mine = float(communicator.rank()) + 1;
    const Memory data = allocate(1, MemoryKind::device, 1);
    copy(data.data(), &mine, sizeof mine);
    communicator.allreduce(buffer(data), buffer(data), ReduceOp::avg);
    float result = 0;
    copy(&result, data.data(), sizeof result);
    EXPECT_EQ(result, 1.5F);
  });
}

TEST_F(DeviceMemory, AllreduceOfManyTensorsTakesThemTogether) {
  core::Settings settings;
  settings.staging_bytes = 64;  // sixteen floats
  const std::vector<std::size_t> counts{3, 0, 40, 1, 5};
  transport::ThreadWorld world(3);
  run_communicators(
      world,
      [&](Communicator& communicator) {
        std::vector<float> values(49);
        std::iota(values.begin(), values.end(), float(communicator.rank()));
        std::vector<Memory> memories;
        std::vector<Buffer> tensors;
        const float* next = values.data();
        for (const std::size_t count : counts) {
          memories.push_back(allocate(count));
          copy(memories.back().data(), next, memories.back().bytes());
          tensors.push_back(buffer(memories.back()));
          next += count;
        }
        const Memory flag = allocate(1);  // of another type
        const std::int32_t one = 1;
        copy(flag.data(), &one, sizeof one);
        tensors.insert(tensors.begin() + 2, Buffer(flag.data(), 1, DataType::int32));
        communicator.allreduce(tensors, ReduceOp::sum);

        std::vector<float> results(values.size());
        float* result = results.data();
        for (const Memory& memory : memories) {
          copy(result, memory.data(), memory.bytes());
          result += memory.bytes() / sizeof(float);
        }
        for (std::size_t i = 0; i < results.size(); ++i)
          ASSERT_EQ(results[i], 3 * float(i) + 3) << i;
        std::int32_t three = 0;
        copy(&three, flag.data(), sizeof three);
        EXPECT_EQ(three, 3);
      },
      {}, settings);
}

TEST_F(DeviceMemory, SendsAndReceivesInParts) {
  core::Settings settings;
  settings.staging_bytes = 64;  // sixteen floats
  transport::ThreadWorld world(2);
  run_communicators(
      world,
      [&](Communicator& communicator) {
        for (const std::size_t count :
             {std::size_t{0}, std::size_t{1}, std::size_t{16}, std::size_t{83}}) {
          std::vector<float> values(count);
          std::iota(values.begin(), values.end(), 1.0F);
          const Memory data = allocate(count);
          if (communicator.rank() == 0) {
            copy(data.data(), values.data(), data.bytes());
            communicator.send(buffer(data), 1);
            communicator.receive(buffer(data), 1);
          } else {
            communicator.receive(buffer(data), 0);
            communicator.send(buffer(data), 0);
          }
          std::vector<float> result(count);
          copy(result.data(), data.data(), data.bytes());
          EXPECT_EQ(result, values);
        }
        Request request;  // what is pending comes before
        float here = 0;
        const Memory there = allocate(1);
        if (communicator.rank() == 0) {
          const float five = 5;
          request = communicator.isend(ConstBuffer(&five, 1, DataType::float32), 1);
          communicator.send(buffer(there), 1);
          request.wait();
        } else {
          request = communicator.ireceive(Buffer(&here, 1, DataType::float32), 0);
          communicator.receive(buffer(there), 0);
          request.wait();
          EXPECT_EQ(here, 5);
        }
      },
      {}, settings);
}

TEST_F(DeviceMemory, BothEndsOfAMessageHaveAsMuchOfIt) {
  for (const bool on_host : {true, false}) {
    const auto all = errors(2, [&](Communicator& communicator) {
      const Memory memory =
          allocate(communicator.rank() == 0 ? 4
                   : on_host                ? 4
                                            : 5,
                   on_host && communicator.rank() == 1 ? MemoryKind::pinned : MemoryKind::device);
      if (communicator.rank() == 0) communicator.send(buffer(memory), 1);
      if (communicator.rank() == 1) communicator.receive(buffer(memory), 0);
      communicator.barrier();
    });
    for (const Thrown& error : all) {
      EXPECT_EQ(error.code, ErrorCode::mismatch);
      EXPECT_TRUE(error.mentions(on_host ? "both must have it in a device's memory, or neither"
                                         : "receives 5 float32 from rank 0, which sends 4"))
          << error;
    }
  }
}

TEST_F(DeviceMemory, ACopyThatFailsLateFailsBothEndsOfAMessage) {
  const auto all = errors(2, [&](Communicator& communicator) {
    const Memory memory = allocate(4);
    communicator.barrier();
    if (communicator.rank() == 0) devices_.fail_copy(0);
    communicator.barrier();
    if (communicator.rank() == 0) communicator.send(buffer(memory), 1);
    if (communicator.rank() == 1) communicator.receive(buffer(memory), 0);
    communicator.barrier();
  });
  for (const Thrown& error : all) EXPECT_TRUE(error.mentions("injected")) << error;
}

TEST_F(DeviceMemory, TensorsOfOneCallLieTogether) {
  const auto all = errors(2, [&](Communicator& communicator) {
    const Memory there = allocate(4);
    std::vector<float> here(4);
    const std::vector<Buffer> tensors{Buffer(), buffer(there), Buffer(std::span(here))};
    communicator.allreduce(tensors, ReduceOp::sum);
  });
  for (const Thrown& error : all) {
    EXPECT_EQ(error.code, ErrorCode::usage);
    EXPECT_TRUE(error.mentions("is in memory of host device device 0, but tensor 2 in host memory"))
        << error;
  }
}

TEST_F(DeviceMemory, PinnedAndManagedMemoryIsTheHosts) {
  run_communicators(2, [&](Communicator& communicator) {
    const Memory pinned = allocate(2, MemoryKind::pinned);
    const Memory managed = allocate(2, MemoryKind::managed);
    reinterpret_cast<float*>(pinned.data())[1] = 2;
    communicator.allreduce(buffer(pinned), buffer(managed), ReduceOp::sum);
    EXPECT_EQ(reinterpret_cast<float*>(managed.data())[1], 4);
    communicator.broadcast(buffer(managed), 1);
  });
}

TEST_F(DeviceMemory, AMixOfKindsIsRefusedOnAllRanks) {
  const auto errors_there = errors(2, [&](Communicator& communicator) {
    const Memory there = allocate(4);
    std::vector<float> here(4);
    const bool mixed = communicator.rank() == 1;
    communicator.allreduce(buffer(there), mixed ? Buffer(std::span(here)) : buffer(there),
                           ReduceOp::sum);
  });
  EXPECT_EQ(errors_there[1].code, ErrorCode::usage);
  EXPECT_TRUE(errors_there[1].mentions(
      "allreduce: the input of rank 1 is in memory of host device device 0, but its output in host "
      "memory"))
      << errors_there[1];
  EXPECT_TRUE(errors_there[0].mentions("output in host memory")) << errors_there[0];
}

TEST_F(DeviceMemory, CallsThatDoNotTakeItRefuseIt) {
  using Call = std::function<void(Communicator&, Buffer)>;
  const std::vector<std::pair<std::string, Call>> calls{
      {"isend: the data", [](Communicator& c, Buffer b) { c.isend(b, 1 - c.rank()).wait(); }},
      {"ireceive: the data", [](Communicator& c, Buffer b) { c.ireceive(b, 1 - c.rank()).wait(); }},
  };
  for (const auto& [words, call] : calls)
    for (const Thrown& error : errors(2, [&, &make = call](Communicator& communicator) {
           const Memory memory = allocate(4);
           make(communicator, buffer(memory));
         })) {
      EXPECT_EQ(error.code, ErrorCode::usage) << error;
      EXPECT_TRUE(error.mentions(words)) << error;
      EXPECT_TRUE(error.mentions("copy it to the host first")) << error;
    }
}

TEST_F(DeviceMemory, RanksMustAgreeWhereTheMemoryLies) {
  for (const Thrown& error : errors(2, [&](Communicator& communicator) {
         const Memory memory =
             allocate(4, communicator.rank() == 0 ? MemoryKind::device : MemoryKind::pinned);
         communicator.allreduce(buffer(memory), buffer(memory), ReduceOp::sum);
       })) {
    EXPECT_EQ(error.code, ErrorCode::mismatch);
    EXPECT_TRUE(error.mentions("whether the memory is a device's")) << error;
    EXPECT_TRUE(error.mentions("from a device's memory")) << error;
  }
}

TEST_F(DeviceMemory, ACopyThatFailsLateFailsAllRanks) {
  for (const bool waits : {true, false})
    for (const int copies : {0, 3}) {  // on the way down, and, of one rank alone, back up
      const auto all = errors(2, [&](Communicator& communicator) {
        const Memory memory = allocate(4);
        communicator.barrier();
        if (communicator.rank() == 0) devices_.fail_copy(copies);
        communicator.barrier();
        if (waits)
          communicator.allreduce(buffer(memory), buffer(memory), ReduceOp::sum, kThroughHost);
        else
          communicator.iallreduce(buffer(memory), buffer(memory), ReduceOp::sum).wait();
        communicator.barrier();  // who was through already fails here
      });
      for (const Thrown& error : all) EXPECT_TRUE(error.mentions("injected")) << error;
    }
}

TEST_F(DeviceMemory, WhatWasEnqueuedInTheDefaultStreamComesFirst) {
  constexpr std::size_t kCount = std::size_t{1} << 18;
  run_communicators(2, [&](Communicator& communicator) {
    const std::vector<float> ones(kCount, 1.0F);
    const Memory data = allocate(kCount);
    const auto stream = devices_.wrap_stream(0, nullptr);
    float result = 0;
    for (int round = 1; round <= 20; ++round) {
      stream->copy(data.data(), ones.data(), data.bytes());
      if (round % 2 == 0)
        communicator.allreduce(buffer(data), buffer(data), ReduceOp::sum);
      else
        communicator.iallreduce(buffer(data), buffer(data), ReduceOp::sum).wait();
      copy(&result, data.data() + data.bytes() - sizeof result, sizeof result);
      ASSERT_EQ(result, 2.0F) << round;
    }
  });
}

TEST_F(DeviceMemory, NoMemoryForStagingFailsAllRanks) {
  const auto all = errors(2, [&](Communicator& communicator) {
    const Memory memory = allocate(4);
    communicator.barrier();
    if (communicator.rank() == 0) devices_.fail_allocation(1);
    communicator.barrier();
    communicator.allreduce(buffer(memory), buffer(memory), ReduceOp::sum, kThroughHost);
  });
  for (const Thrown& error : all) EXPECT_TRUE(error.mentions("pinned memory")) << error;
}

}  // namespace
}  // namespace rondo::engine
