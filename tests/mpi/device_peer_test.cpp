#include <gtest/gtest.h>
#include <mpi.h>

#include <cstddef>
#include <span>
#include <vector>

#include <rondo/rondo.hpp>

#include "device/memory.hpp"

// Processes that reach each other's memory on a GPU, which they may share.
namespace rondo {
namespace {

using device::Memory;
using device::MemoryKind;

class DevicePeers : public ::testing::Test {
 protected:
  void SetUp() override try {
    runtime_ = &device::cuda_runtime();
    runtime_->device_count();
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }

  void copy(void* to, const void* from, std::size_t bytes) {
    const auto stream = runtime_->make_stream(0);
    stream->copy(to, from, bytes);
    stream->synchronize();
  }

  device::Runtime* runtime_ = nullptr;
};

TEST_F(DevicePeers, AllreduceGivesTheHostsBitsInNewMemoryEachTime) {
  Communicator world(MPI_COMM_WORLD);
  for (const char* const algorithm : {"device_one_shot", "device_two_shot"})
    for (const std::size_t count : {std::size_t{1}, std::size_t{1'000'003}})
      for (int round = 0; round < 20; ++round) {
        std::vector<float> expected(count);
        for (std::size_t i = 0; i < count; ++i)
          expected[i] = 1.0F / float(1 + (i + std::size_t(round + world.rank())) % 1001);
        const Memory input(*runtime_, {MemoryKind::device, 0}, count * sizeof(float));
        const Memory output(*runtime_, {MemoryKind::device, 0}, count * sizeof(float));
        const Memory& to = round % 2 == 0 ? input : output;
        copy(input.data(), expected.data(), input.bytes());
        world.allreduce(ConstBuffer(input.data(), count, DataType::float32),
                        Buffer(to.data(), count, DataType::float32), ReduceOp::avg,
                        {.algorithm = algorithm});
        EXPECT_EQ(world.last_algorithm(), algorithm);

        world.allreduce(std::span(expected), ReduceOp::avg, {.deterministic = true});
        std::vector<float> result(count);
        copy(result.data(), to.data(), to.bytes());
        EXPECT_TRUE(result == expected) << algorithm << ", " << count << ", " << round;
      }
}

}  // namespace
}  // namespace rondo
