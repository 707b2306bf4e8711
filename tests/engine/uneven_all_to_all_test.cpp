#include <chrono>
#include <deque>
#include <functional>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>
#include <rondo/communicator.hpp>

#include "support/thread_communicators.hpp"
#include "support/thrown.hpp"

// All-to-all of uneven blocks, whose sizes are known to their sender and receiver alone. The
// conformance tests cover what it moves.
namespace rondo {
namespace {

using Progress = core::Settings::Progress;
using testing::Thrown;
using testing::thrown;
using transport::ThreadWorld;
using transport::Topology;

/// Rank r sends r + 1 elements to each of the other ranks; rank 1 may expect more from rank 0.
struct Exchange {
  explicit Exchange(const Communicator& world, std::size_t unexpected = 0)
      : going(world.size(), world.rank() + 1), coming(world.size()) {
    std::iota(coming.begin(), coming.end(), 1);
    if (world.rank() == 1) coming[0] += unexpected;
    sent.resize(going.size() * going[0], static_cast<float>(world.rank()));
    received.resize(std::accumulate(coming.begin(), coming.end(), std::size_t{0}));
  }
  void run(Communicator& world) {
    world.all_to_all_v(std::span<const float>(sent), going, std::span(received), coming);
  }
  void begin(Communicator& world) {
    request = world.iall_to_all_v(std::span<const float>(sent), going, std::span(received), coming);
  }
  /// They need not outlive the call.
  void forget_counts() { going = coming = {}; }
  std::vector<std::size_t> going;
  std::vector<std::size_t> coming;
  std::vector<float> sent;
  std::vector<float> received;
  Request request;
};

class UnevenAllToAll : public ::testing::TestWithParam<Progress> {
 protected:
  /// On one node, and where every rank is a node of its own: what each rank threw.
  static void run(int size, const testing::CommunicatorBody& body,
                  const std::function<void(const Thrown&)>& check) {
    core::Settings settings;
    settings.progress = GetParam();
    settings.timeout = std::chrono::seconds(10);
    for (const Topology& topology : {Topology::one_node(size), Topology::spread(size)}) {
      ThreadWorld world(topology);
      const auto errors = testing::errors_of_ranks(world, [&](transport::Transport& transport) {
        Communicator communicator =
            testing::make_communicator(transport.split(0, transport.rank()), {}, settings);
        body(communicator);
      });
      for (const auto& error : errors) check(thrown(error));
    }
  }
};

TEST_P(UnevenAllToAll, MayBePendingBesideOthers) {
  run(
      3,
      [](Communicator& world) {
        std::deque<Exchange> exchanges;
        for (int i = 0; i < 5; ++i) {
          exchanges.emplace_back(world).begin(world);
          exchanges.back().forget_counts();
        }
        float one = 1;
        world.allreduce(std::span(&one, 1), ReduceOp::sum);
        EXPECT_EQ(one, 3.0F);
        Exchange blocking(world);
        blocking.run(world);
        const std::vector<float> expected{0, 1, 1, 2, 2, 2};
        EXPECT_EQ(blocking.received, expected);
        for (Exchange& exchange : exchanges) {
          exchange.request.wait();
          EXPECT_EQ(exchange.received, expected);
        }
      },
      [](const Thrown& error) { EXPECT_TRUE(error.mentions("nothing")) << error; });
}

TEST_P(UnevenAllToAll, TellsEveryRankWhoExpectsOtherSizes) {
  for (const bool asynchronous : {false, true})
    run(
        3,
        [asynchronous](Communicator& world) {
          Exchange exchange(world, 4);
          if (asynchronous) exchange.begin(world);
          asynchronous ? exchange.request.wait() : exchange.run(world);
          world.barrier();
        },
        [](const Thrown& error) {
          EXPECT_EQ(error.code, ErrorCode::mismatch);
          EXPECT_TRUE(error.mentions("rank 0 sends 1 elements to rank 1, which expects 5"))
              << error;
        });
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutAThread, UnevenAllToAll,
                         ::testing::Values(Progress::poll, Progress::thread), [](const auto& test) {
                           return test.param == Progress::poll ? "Polled" : "Threaded";
                         });

}  // namespace
}  // namespace rondo
