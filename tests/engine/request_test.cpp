#include <rondo/request.hpp>

#include <atomic>
#include <chrono>
#include <deque>
#include <filesystem>
#include <future>
#include <iterator>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rondo/communicator.hpp>

#include "support/sanitized.hpp"
#include "support/thread_communicators.hpp"
#include "support/thrown.hpp"

namespace rondo {
namespace {

using namespace std::chrono_literals;
using Progress = core::Settings::Progress;
using testing::thrown;
using testing::thrown_by;
using transport::ThreadWorld;
using transport::Topology;

/// An all-reduce of ones under way.
struct Sum {
  explicit Sum(std::size_t count = 10) : data(count, 1.0F) {}
  void begin(Communicator& world, const Options& options = {}) {
    request = world.iallreduce(std::span(data), ReduceOp::sum, options);
  }
  void expect_done(const Communicator& world) {
    request.wait();
    const auto expected = static_cast<float>(world.size());
    EXPECT_EQ(data, std::vector<float>(data.size(), expected));
  }
  std::vector<float> data;
  Request request;
};

/// Every way in which requests may come to move.
class Requests : public ::testing::TestWithParam<Progress> {
 protected:
  static core::Settings settings() {
    core::Settings settings;
    settings.progress = GetParam();
    settings.timeout = 20s;
    return settings;
  }
  /// On one node, and where every rank is a node of its own.
  static void run(int size, const testing::CommunicatorBody& body) {
    for (const Topology& topology : {Topology::one_node(size), Topology::spread(size)}) {
      ThreadWorld world(topology);
      testing::run_ranks(world, [&](transport::Transport& transport) {
        Communicator communicator =
            testing::make_communicator(transport.split(0, transport.rank()), {}, settings());
        body(communicator);
      });
    }
  }
  static std::vector<std::exception_ptr> errors(int size, const testing::CommunicatorBody& body) {
    return testing::errors_with(size, settings(), body);
  }
};

TEST_P(Requests, AreWaitedForInAnyOrder) {
  run(3, [](Communicator& world) {
    std::deque<Sum> sums;
    for (std::size_t i = 0; i < 12; ++i) sums.emplace_back(1 + i * 1000).begin(world);
    for (int i = 0; i < 12; ++i)
      sums[static_cast<std::size_t>((i * 5 + world.rank()) % 12)].expect_done(world);
  });
}

TEST_P(Requests, AreOvertakenBySmallBlockingCalls) {
  std::atomic<int> overtaken = 0;
  run(2, [&](Communicator& world) {
    for (int i = 0; i < 10; ++i) {
      Sum large(1'000'000);
      large.begin(world);
      world.barrier();
      if (!large.request.test()) ++overtaken;
      large.expect_done(world);
    }
  });
  EXPECT_GT(overtaken, 0);
}

TEST_P(Requests, MayBePendingInLargeNumbersAndForLong) {
  run(2, [](Communicator& world) {
    Sum oldest(500'000);
    oldest.begin(world);
    std::deque<Sum> sums(1500);
    for (Sum& sum : sums) sum.begin(world);
    for (int i = 0; i < 3000; ++i) world.barrier();  // tags come round
    for (Sum& sum : sums) sum.expect_done(world);
    oldest.expect_done(world);
  });
}

TEST_P(Requests, CanBeTestedUntilTheyAreOver) {
  run(3, [](Communicator& world) {
    Sum sum(20'000);
    sum.begin(world);
    while (!sum.request.test()) std::this_thread::yield();
    EXPECT_TRUE(sum.request.test());
    EXPECT_EQ(sum.data.back(), 3.0F);
    sum.expect_done(world);
    EXPECT_TRUE(sum.request.test()) << "it has no operation any more";
    EXPECT_NO_THROW(sum.request.wait());
  });
}

TEST_P(Requests, CanBeWaitedForForAWhile) {
  run(2, [](Communicator& world) {
    Sum sum;
    if (world.rank() == 1) std::this_thread::sleep_for(100ms);
    sum.begin(world);
    if (world.rank() == 0) {
      EXPECT_FALSE(sum.request.wait_for(10ms));
    }
    EXPECT_TRUE(sum.request.wait_for(10s));
    EXPECT_EQ(sum.data[0], 2.0F);
  });
}

TEST_P(Requests, CanBeWaitedForHoweverLongOrShort) {
  run(2, [](Communicator& world) {
    Sum sum;
    if (world.rank() == 1) std::this_thread::sleep_for(50ms);
    sum.begin(world);
    if (world.rank() == 0) {
      EXPECT_FALSE(sum.request.wait_for(std::chrono::milliseconds::min()));
    }
    EXPECT_TRUE(sum.request.wait_for(std::chrono::milliseconds::max()));
  });
}

TEST_P(Requests, WaitWhenTheyAreDestroyedOrAssignedTo) {
  run(2, [](Communicator& world) {
    std::vector<float> first(1000, 1.0F);
    std::vector<float> second(1000, 1.0F);
    {
      Request request = world.iallreduce(std::span(first), ReduceOp::sum);
      request = world.iallreduce(std::span(second), ReduceOp::sum);
      EXPECT_EQ(first[999], 2.0F);
      Request moved = std::move(request);
      EXPECT_TRUE(request.test());  // NOLINT(bugprone-use-after-move): it has no operation
    }
    EXPECT_EQ(second[999], 2.0F);
  });
}

TEST_P(Requests, MayOutliveTheirCommunicatorWhichWaitsForThem) {
  run(2, [](Communicator& world) {
    Sum sum(100'000);
    {
      Communicator part = world.split(0);
      sum.begin(part);
    }
    EXPECT_EQ(sum.data.back(), 2.0F);
    sum.expect_done(world);
  });
}

TEST_P(Requests, ThrowUsageErrorsAtTheCall) {
  const auto thrown_by_ranks = errors(2, [](Communicator& world) {
    Sum sum;
    if (world.rank() == 0) return static_cast<void>(world.ibroadcast(std::span(sum.data), 7));
    sum.begin(world);
    sum.request.wait();
  });
  EXPECT_TRUE(thrown(thrown_by_ranks[0]).mentions("root 7")) << thrown(thrown_by_ranks[0]);
  EXPECT_TRUE(thrown(thrown_by_ranks[1]).mentions("rank 0 reported")) << thrown(thrown_by_ranks[1]);
}

TEST_P(Requests, AllFailWithTheSameErrorWhenRanksDisagree) {
  run(2, [](Communicator& world) {
    std::deque<Sum> sums(4);
    sums[1].data.resize(world.rank() == 0 ? 10 : 11);
    auto failure = thrown_by([&] {
      for (Sum& sum : sums) sum.begin(world);
    });
    if (failure.mentions("nothing")) failure = thrown_by([&] { sums[1].request.wait(); });
    EXPECT_TRUE(failure.mentions("disagree on count")) << failure;
    EXPECT_EQ(failure.code, ErrorCode::mismatch);
    for (Sum& sum : sums) {
      const auto error = thrown_by([&] { sum.request.wait(); });
      // The others run beside it, so that they may be done before.
      if (!error.mentions("nothing") && !failure.mentions("can't be used")) {
        EXPECT_EQ(error.text, failure.text);
      }
    }
    EXPECT_TRUE(thrown_by([&] { world.barrier(); }).mentions("can't be used any more"));
  });
}

TEST_P(Requests, GoOnWhenALaterOneFails) {
  for (const bool late : {false, true})
    run(2, [late](Communicator& world) {
      std::deque<Sum> earlier(2);
      // Rank 1 then begins them after rank 0's failure.
      if (late && world.rank() == 1) std::this_thread::sleep_for(100ms);
      for (Sum& sum : earlier) sum.data.resize(1'000'000, 1.0F);
      for (Sum& sum : earlier) sum.begin(world);
      if (world.rank() == 0) {
        EXPECT_THROW(world.ibroadcast(Buffer(), 7), Error);
      } else {
        Sum later;
        const auto error = thrown_by([&] {
          later.begin(world);
          later.request.wait();
        });
        EXPECT_TRUE(error.mentions("root 7")) << error;
      }
      for (Sum& sum : earlier) sum.expect_done(world);
    });
}

TEST_P(Requests, AreNamedWhenAnotherRankMakesTheBlockingCall) {
  for (const bool met_before : {false, true})
    run(2, [&](Communicator& world) {
      if (met_before) Sum().begin(world);
      const auto begin = std::chrono::steady_clock::now();
      const auto error = thrown_by([&] {
        std::vector<float> data(10);
        if (world.rank() == 0) return world.allreduce(std::span(data), ReduceOp::sum);
        world.iallreduce(std::span(data), ReduceOp::sum).wait();
      });
      EXPECT_EQ(error.code, ErrorCode::mismatch) << error;
      EXPECT_TRUE(error.mentions("whether the call waits")) << error;
      EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
    });
}

TEST_P(Requests, FailAtTheirDeadline) {
  const auto thrown_by_ranks = errors(2, [](Communicator& world) {
    Sum sum;
    if (world.rank() == 1) return std::this_thread::sleep_for(3s);
    sum.begin(world, {.timeout = 200ms});
    sum.request.wait();
  });
  EXPECT_TRUE(thrown(thrown_by_ranks[0]).mentions("iallreduce")) << thrown(thrown_by_ranks[0]);
  EXPECT_TRUE(thrown(thrown_by_ranks[0]).mentions("not done after 0.2 s"))
      << thrown(thrown_by_ranks[0]);
}

TEST_P(Requests, HaveTheirTimeFromTheEndOfEarlierOnes) {
  run(2, [](Communicator& world) {
    std::deque<Sum> sums(3);
    if (world.rank() == 1) std::this_thread::sleep_for(750ms);
    sums[0].begin(world);
    sums[1].begin(world);
    if (world.rank() == 1) std::this_thread::sleep_for(50ms);
    sums[2].begin(world, {.timeout = 700ms});  // of the same slot as the first
    sums[2].expect_done(world);
  });
}

TEST_P(Requests, DoNotKeepAnExceptionForLong) {
  const auto begin = std::chrono::steady_clock::now();
  const auto thrown_by_ranks = errors(2, [](Communicator& world) {
    Sum sum;
    if (world.rank() == 1) return std::this_thread::sleep_for(4s);
    sum.begin(world);
    throw Error(ErrorCode::corrupt_file, "no data");
  });
  EXPECT_EQ(thrown(thrown_by_ranks[0]).code, ErrorCode::corrupt_file);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
}

/// Numbers of communicators are short in some MPIs, and so are descriptors.
TEST(RequestsOfManyCommunicators, LeaveNothingBehind) {
  const auto make_and_drop = [](const Topology& topology, int times) {
    ThreadWorld world(topology);
    testing::run_ranks(world, [&](transport::Transport& transport) {
      Communicator all = testing::make_communicator(transport.split(0, transport.rank()));
      for (int i = 0; i < times; ++i) {
        Sum sum;
        Communicator part = all.split(0);
        sum.begin(part);
      }
    });
  };
  const auto descriptors = [] {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return std::distance(begin(all), end(all));
  };
  make_and_drop(Topology::one_node(2), 10);
  const auto before = descriptors();
  make_and_drop(Topology::one_node(2), 300);
  make_and_drop(Topology::spread(2), 2000);
  EXPECT_EQ(descriptors(), before);
}

/// A rank waits in one communicator while the other rank needs it in another.
TEST_P(Requests, MoveWhileTheirRankWaitsInAnotherCommunicator) {
  run(2, [](Communicator& world) {
    Communicator other = world.split(0);
    Communicator& first = world.rank() == 0 ? world : other;
    Communicator& second = world.rank() == 0 ? other : world;
    for (const std::size_t count : {10, 100'000}) {
      Sum in_world(count);
      Sum in_other(count);
      in_world.begin(world);
      in_other.begin(other);
      if (world.rank() == 0) world.barrier();
      in_other.expect_done(other);
      if (world.rank() == 1) world.barrier();
      in_world.expect_done(world);

      Sum in_first(count);
      Sum in_second(count);
      in_first.begin(first);
      in_second.begin(second);
      while (!in_first.request.test()) std::this_thread::yield();
      in_second.expect_done(second);
      in_first.expect_done(first);
    }
  });
}

TEST_P(Requests, FailOnAllRanksWhenOneIsLost) {
  ThreadWorld world(3);
  world.lose_after(2, 600);
  core::Settings lossy = settings();
  lossy.timeout = 1s;
  const auto errors = testing::errors_of_ranks(world, [&](transport::Transport& transport) {
    Communicator all = testing::make_communicator(transport.split(0, transport.rank()), {}, lossy);
    for (int i = 0; i < 100'000; ++i) {
      std::deque<Sum> sums(3);
      for (Sum& sum : sums) sum.begin(all);
      for (Sum& sum : sums) sum.request.wait();
    }
  });
  for (const Rank rank : {0, 1})
    EXPECT_TRUE(thrown(errors[static_cast<std::size_t>(rank)]).mentions("rank 2: silent"))
        << thrown(errors[static_cast<std::size_t>(rank)]);
}

/// One step of each rank's can't make it.
TEST(RequestsWithAThread, MoveWhileTheCallerComputes) {
  ThreadWorld world(Topology::spread(2));
  testing::run_communicators(world, [](Communicator& all) {
    Sum sum(300'000);
    sum.begin(all);
    std::this_thread::sleep_for(2s);
    EXPECT_TRUE(sum.request.test());
    sum.expect_done(all);
  });
}

/// Nobody waits for it: the thread looks at the deadline.
TEST(RequestsWithAThread, FailAtTheirDeadlineThoughNobodyWaits) {
  core::Settings settings;
  const auto errors = testing::errors_with(2, settings, [](Communicator& world) {
    Sum sum;
    if (world.rank() == 0) sum.begin(world, {.timeout = 100ms});
    std::this_thread::sleep_for(5s);
    world.barrier();
  });
  for (const auto& error : errors)
    EXPECT_TRUE(thrown(error).mentions("not done after 0.1 s")) << thrown(error);
}

/// However long the thread's naps have become, and while nobody waits.
TEST(RequestsWithAThread, FailSoonAfterTheirDeadline) {
  std::promise<void> failed;
  testing::run_communicators(2, [&](Communicator& world) {
    if (world.rank() == 1) {
      float data = 0;
      EXPECT_THROW(world.receive(std::span(&data, 1), 0), Error);
      failed.set_value();
      return;
    }
    Sum sum;
    sum.begin(world, {.timeout = 100ms});
    EXPECT_EQ(failed.get_future().wait_for(2s), std::future_status::ready);
    EXPECT_THROW(sum.request.wait(), Error);
  });
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutAThread, Requests,
                         ::testing::Values(Progress::poll, Progress::thread), [](const auto& test) {
                           return test.param == Progress::poll ? "Polled" : "Threaded";
                         });

}  // namespace
}  // namespace rondo
