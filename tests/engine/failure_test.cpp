#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <fstream>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <rondo/communicator.hpp>

#include "support/thread_communicators.hpp"
#include "support/thrown.hpp"

namespace rondo {
namespace {

using namespace std::chrono_literals;

using testing::thrown;
using testing::Thrown;

void sum(Communicator& world, std::size_t count = 10, const Options& options = {}) {
  std::vector<float> data(count, 1.0F);
  world.allreduce(std::span(data), ReduceOp::sum, options);
}

using testing::errors_with;

TEST(Failure, AUsageErrorOnOneRankFailsTheOthersAtOnce) {
  const auto errors = testing::errors_of_communicators(3, [](Communicator& world) {
    if (world.rank() == 1) {
      int data = 0;
      world.allreduce(std::span(&data, 1), ReduceOp::avg);
    } else {
      sum(world);
    }
  });
  for (const auto& error : errors) EXPECT_EQ(thrown(error).code, ErrorCode::usage);
  EXPECT_TRUE(thrown(errors[0]).mentions("rank 1 reported: allreduce: avg of int32"))
      << thrown(errors[0]).text;
  EXPECT_TRUE(thrown(errors[1]).mentions("avg of int32")) << thrown(errors[1]).text;
}

TEST(Failure, ARankWithoutMemoryFailsTheOthersAtOnce) {
  const auto errors = testing::errors_of_communicators(2, [](Communicator& world) {
    float element = 1;
    const std::size_t count = world.rank() == 0 ? 1 : std::size_t{1} << 61;
    const Buffer tensor(&element, count, DataType::float32);
    world.allreduce(std::span(&tensor, 1), ReduceOp::sum);
  });
  for (const auto& error : errors) EXPECT_EQ(thrown(error).code, ErrorCode::system);
  EXPECT_TRUE(thrown(errors[0]).mentions("rank 1 reported")) << thrown(errors[0]).text;
}

TEST(Failure, EveryLaterCallFailsToo) {
  testing::run_communicators(2, [](Communicator& world) {
    EXPECT_THROW(sum(world, world.rank() == 0 ? 10 : 11), Error);
    try {
      world.barrier();
      ADD_FAILURE() << "a poisoned communicator accepted a call";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::mismatch);
      EXPECT_NE(std::string_view(error.what()).find("can't be used any more"), std::string::npos)
          << error.what();
    }
  });
}

TEST(Failure, AnErrorOfARankThatIsAheadReachesTheOthersInTheirNextCall) {
  const auto errors = testing::errors_of_communicators(2, [](Communicator& world) {
    sum(world);
    if (world.rank() == 0) {
      world.broadcast(Buffer(), 7);
    } else {
      std::this_thread::sleep_for(50ms);
      sum(world);
    }
  });
  EXPECT_TRUE(thrown(errors[1]).mentions("root 7")) << thrown(errors[1]).text;
}

TEST(Failure, TheDeadlineNamesTheRankThatIsSilent) {
  core::Settings settings;
  settings.timeout = 200ms;
  settings.progress = core::Settings::Progress::poll;
  const auto errors = errors_with(3, settings, [](Communicator& world) {
    if (world.rank() == 2)
      std::this_thread::sleep_for(4s);  // in its own code, without a thread to answer
    else
      sum(world);
  });
  for (Rank rank : {0, 1}) {
    const Thrown error = thrown(errors[static_cast<std::size_t>(rank)]);
    EXPECT_EQ(error.code, ErrorCode::timeout);
    EXPECT_TRUE(error.mentions("rank 2: silent")) << error.text;
    EXPECT_TRUE(error.mentions("ranks 0-1: arrived")) << error.text;
  }
}

TEST(Failure, TheDeadlineSaysHowFarARankIsThatComputes) {
  core::Settings settings;
  settings.timeout = 200ms;
  const auto errors = errors_with(2, settings, [](Communicator& world) {
    sum(world);
    if (world.rank() == 0)
      sum(world);
    else
      std::this_thread::sleep_for(3s);
  });
  EXPECT_TRUE(thrown(errors[0]).mentions("rank 1: alive, last operation #5"))
      << thrown(errors[0]).text;
}

TEST(Failure, ALostRankIsNamedByAllOthers) {
  transport::ThreadWorld world(4);
  world.lose_after(3, 1000);
  core::Settings settings;
  settings.timeout = 1000ms;
  const auto errors = testing::errors_of_ranks(world, [&](transport::Transport& transport) {
    Communicator communicator =
        testing::make_communicator(transport.split(0, transport.rank()), {}, settings);
    for (int i = 0; i < 1'000'000; ++i) sum(communicator, 5000, {.segment_bytes = 256});
  });
  for (Rank rank = 0; rank < 3; ++rank)
    EXPECT_TRUE(thrown(errors[static_cast<std::size_t>(rank)]).mentions("rank 3: silent"))
        << thrown(errors[static_cast<std::size_t>(rank)]).text;
}

/// Of this process, in bytes.
std::size_t resident_memory() {
  std::ifstream file("/proc/self/statm");
  std::size_t all = 0;
  std::size_t resident = 0;
  file >> all >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

/// MPI may still send from it.
TEST(Failure, MemoryOfItsOwnThatACommunicatorSendsFromIsKept) {
  constexpr std::size_t kBytes = std::size_t{40} << 20;
  std::size_t before = 0;
  const auto errors = testing::errors_of_communicators(2, [&](Communicator& world) {
    if (world.rank() == 1) return world.barrier();
    std::vector<std::byte> data(kBytes);
    const Buffer tensor(data.data(), kBytes, DataType::uint8);
    before = resident_memory();
    world.allreduce(std::span(&tensor, 1), ReduceOp::sum);
  });
  EXPECT_EQ(thrown(errors[0]).code, ErrorCode::mismatch);
  EXPECT_GT(resident_memory() + (kBytes / 4), before) << "instead of `data`, which is free";
}

TEST(Failure, TwoThreadsOnOneCommunicatorAreRefused) {
  testing::run_communicators(2, [](Communicator& world) {
    if (world.rank() == 1) {
      std::this_thread::sleep_for(100ms);
      return world.barrier();
    }
    std::thread first([&] { world.barrier(); });
    std::this_thread::sleep_for(30ms);
    EXPECT_THROW(world.barrier(), Error);
    first.join();
  });
}

TEST(Failure, SendAndReceiveMustAgree) {
  const auto errors = testing::errors_of_communicators(2, [](Communicator& world) {
    std::vector<double> data(world.rank() == 0 ? 3 : 4);
    if (world.rank() == 0)
      world.send(std::span(data), 1);
    else
      world.receive(std::span(data), 0);
    world.barrier();
  });
  EXPECT_TRUE(thrown(errors[1]).mentions("receives 4 float64 from rank 0, which sends 3 float64"))
      << thrown(errors[1]).text;
  EXPECT_EQ(thrown(errors[0]).code, ErrorCode::mismatch);
}

}  // namespace
}  // namespace rondo
