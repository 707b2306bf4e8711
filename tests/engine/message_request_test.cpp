#include <chrono>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <rondo/communicator.hpp>

#include "support/thread_communicators.hpp"
#include "support/thrown.hpp"

// Sends and receives that are not waited for at once.
namespace rondo {
namespace {

using namespace std::chrono_literals;
using Progress = core::Settings::Progress;
using testing::Thrown;
using testing::thrown_by;
using transport::ThreadWorld;
using transport::Topology;

class MessageRequests : public ::testing::TestWithParam<Progress> {
 protected:
  /// Where sends are copied, and where each waits for its receive and messages come late.
  static void run(int size, const testing::CommunicatorBody& body,
                  std::chrono::milliseconds timeout = 20s) {
    core::Settings settings;
    settings.progress = GetParam();
    settings.timeout = timeout;
    for (const bool slow : {false, true}) {
      ThreadWorld world(Topology::one_node(size),
                        {.synchronous_sends = slow, .delay_seed = slow ? 5U : 0U});
      testing::run_ranks(world, [&](transport::Transport& transport) {
        Communicator communicator =
            testing::make_communicator(transport.split(0, transport.rank()), {}, settings);
        body(communicator);
      });
    }
  }
};

/// Its number, in as many elements.
struct Numbered {
  explicit Numbered(int number) : data(static_cast<std::size_t>(number), number) {}
  std::vector<int> data;
  Request request;
};

TEST_P(MessageRequests, AreMatchedInOrderWithOthersAndBlockingOnes) {
  run(2, [](Communicator& world) {
    const Rank peer = 1 - world.rank();
    std::deque<Numbered> sent;
    std::deque<Numbered> received;
    for (int i = 0; i < 20; ++i) {
      sent.emplace_back(i);
      received.emplace_back(i).data.assign(static_cast<std::size_t>(i), -1);
      const Buffer incoming(std::span(received.back().data));
      const ConstBuffer outgoing(std::span(sent.back().data));
      if (world.rank() == 0 || i % 5 != 4) received.back().request = world.ireceive(incoming, peer);
      if (i % 7 == 3)
        world.send(outgoing, peer);
      else
        sent.back().request = world.isend(outgoing, peer);
      if (world.rank() == 1 && i % 5 == 4) world.receive(incoming, peer);
    }
    world.barrier();
    for (int i = 19; i >= 0; --i) {
      Numbered& message = received[static_cast<std::size_t>(i)];
      message.request.wait();
      EXPECT_EQ(message.data, Numbered(i).data);
      sent[static_cast<std::size_t>(i)].request.wait();
    }
  });
}

TEST_P(MessageRequests, GoRoundBesideCollectives) {
  run(3, [](Communicator& world) {
    const Rank next = (world.rank() + 1) % world.size();
    const Rank previous = (world.rank() + 2) % world.size();
    std::vector<float> incoming(50'000);
    const std::vector<float> outgoing(incoming.size(), static_cast<float>(world.rank()));
    std::vector<float> data(1000, 1.0F);
    Request receive = world.ireceive(Buffer(std::span(incoming)), previous);
    Request sum = world.iallreduce(std::span(data), ReduceOp::sum);
    Request send = world.isend(ConstBuffer(std::span(outgoing)), next);
    world.barrier();
    while (!receive.test()) std::this_thread::yield();
    receive.wait();
    EXPECT_EQ(incoming.back(), static_cast<float>(previous));
    send.wait();
    sum.wait();
    EXPECT_EQ(data.back(), 3.0F);
    EXPECT_NE(world.last_algorithm(), "") << "messages have none";
  });
}

TEST_P(MessageRequests, FailOnBothRanksThatDisagree) {
  run(2, [](Communicator& world) {
    std::vector<double> data(world.rank() == 0 ? 3 : 4);
    const Thrown error = thrown_by([&] {
      Request request = world.rank() == 0 ? world.isend(ConstBuffer(std::span(data)), 1)
                                          : world.ireceive(Buffer(std::span(data)), 0);
      request.wait();
      world.barrier();
    });
    EXPECT_EQ(error.code, ErrorCode::mismatch) << error;
    EXPECT_TRUE(error.mentions("receives 4 float64 from rank 0, which sends 3 float64")) << error;
    EXPECT_TRUE(thrown_by([&] { world.barrier(); }).mentions("can't be used any more"));
  });
}

TEST_P(MessageRequests, FailAtTheirDeadlineAndLetEarlierRequestsGoOn) {
  run(2, [](Communicator& world) {
    std::vector<float> sum(100'000, 1.0F);
    Request earlier = world.iallreduce(std::span(sum), ReduceOp::sum);
    float never = 0;
    if (world.rank() == 0) {
      Request request = world.ireceive(std::span(&never, 1), 1, {.timeout = 50ms});
      const Thrown error = thrown_by([&] { request.wait(); });
      EXPECT_TRUE(error.mentions("not done after 0.05 s")) << error;
    } else {
      Request request = world.ireceive(std::span(&never, 1), 0);
      const Thrown error = thrown_by([&] { request.wait(); });
      EXPECT_TRUE(error.mentions("rank 0 reported: send_receive")) << error;
    }
    earlier.wait();
    EXPECT_EQ(sum.back(), 2.0F);
  });
}

TEST_P(MessageRequests, ThrowUsageErrorsAtTheCall) {
  run(1, [](Communicator& world) {
    float datum = 0;
    EXPECT_TRUE(thrown_by([&] { world.isend(std::span(&datum, 1), 1); }).mentions("isend: rank 1"));
  });
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutAThread, MessageRequests,
                         ::testing::Values(Progress::poll, Progress::thread), [](const auto& test) {
                           return test.param == Progress::poll ? "Polled" : "Threaded";
                         });

}  // namespace
}  // namespace rondo
