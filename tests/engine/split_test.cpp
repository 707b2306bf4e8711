#include <chrono>
#include <deque>
#include <latch>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <rondo/communicator.hpp>

#include "support/thread_communicators.hpp"
#include "support/thrown.hpp"

// How communicators are split while something is pending, or goes wrong. A rank that enters the
// transport's own split alone waits there for ever.
namespace rondo {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using testing::Thrown;
using testing::thrown_by;
using transport::ThreadWorld;
using transport::Topology;

/// On one node, and where every rank is a node of its own. Nobody moves what is pending but the
/// ranks' calls.
void run_polled(int size, const testing::CommunicatorBody& body) {
  core::Settings settings;
  settings.progress = core::Settings::Progress::poll;
  settings.timeout = 10s;
  for (const Topology& topology : {Topology::one_node(size), Topology::spread(size)}) {
    ThreadWorld world(topology);
    std::latch through(size);
    testing::run_ranks(world, [&](transport::Transport& transport) {
      Communicator communicator =
          testing::make_communicator(transport.split(0, transport.rank()), {}, settings);
      body(communicator);
      through.count_down();
      for (const auto end = Clock::now() + 5s; !through.try_wait();
           std::this_thread::sleep_for(1ms))
        if (Clock::now() > end) throw Error(ErrorCode::timeout, "another rank waits for ever");
    });
  }
}

TEST(Split, LeavesWhatIsPendingToGoOn) {
  run_polled(3, [](Communicator& world) {
    std::vector<float> data(1'000'000, 1.0F);
    Request request = world.iallreduce(std::span(data), ReduceOp::sum);
    Communicator pair = world.split(world.rank() == 0 ? -1 : 0);
    EXPECT_EQ(pair.size(), world.rank() == 0 ? 0 : 2);
    request.wait();
    EXPECT_EQ(data.back(), 3.0F);
  });
}

/// Rank 0's third request begins, and fails, when rank 1 has joined the first: by then rank 0 has
/// told rank 1 that it is about to split.
TEST(Split, FailsOnAllRanksWhenARequestFailsOnOneMeanwhile) {
  run_polled(2, [](Communicator& world) {
    std::deque<float> data(3, 1.0F);
    std::deque<Request> requests;
    if (world.rank() == 1) std::this_thread::sleep_for(50ms);
    for (float& datum : data) {
      const bool wrong = world.rank() == 0 && requests.size() == 2;
      requests.push_back(world.iallreduce(std::span(&datum, 1), ReduceOp::sum,
                                          {.algorithm = wrong ? "tring" : ""}));
    }
    if (world.rank() == 1) std::this_thread::sleep_for(50ms);
    const Thrown error = thrown_by([&] { world.split(0); });
    EXPECT_TRUE(error.mentions("tring")) << error;
    const Thrown cause = thrown_by([&] { requests[2].wait(); });
    EXPECT_TRUE(cause.mentions("tring")) << cause;
  });
}

/// Rank 1 goes on to something else that it has in common with a split.
TEST(Split, IsNoBarrier) {
  run_polled(2, [](Communicator& world) {
    const Thrown error = thrown_by([&] {
      if (world.rank() == 0) static_cast<void>(world.split(0));
      for (int i = 0; i < 2 && world.rank() == 1; ++i) world.barrier();
    });
    EXPECT_EQ(error.code, ErrorCode::mismatch) << error;
    EXPECT_TRUE(error.mentions("rank 0 calls split")) << error;
  });
}

}  // namespace
}  // namespace rondo
