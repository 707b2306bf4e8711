#include "transport/thread_transport.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <rondo/error.hpp>

#include "support/thread_ranks.hpp"

namespace rondo::transport {
namespace {

using testing::errors_of_ranks;
using testing::run_ranks;
using testing::wait;

ErrorCode code_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Error& e) {
    return e.code();
  }
}

/// Every way in which messages may be delivered.
class ThreadTransportModes : public ::testing::TestWithParam<ThreadOptions> {};

std::string mode_name(const ::testing::TestParamInfo<ThreadOptions>& mode) {
  const std::string kind = mode.param.synchronous_sends ? "Synchronous" : "Eager";
  return mode.param.delay_seed != 0 ? kind + "Delayed" : kind;
}

INSTANTIATE_TEST_SUITE_P(Delivery, ThreadTransportModes,
                         ::testing::Values(ThreadOptions{}, ThreadOptions{true, 0},
                                           ThreadOptions{false, 7}, ThreadOptions{true, 8}),
                         mode_name);

TEST_P(ThreadTransportModes, MessagesOfEverySizeArriveUnchanged) {
  run_ranks(
      2,
      [](Transport& transport) {
        for (const std::size_t bytes : {0, 1, 7, 64, 100'000}) {
          std::vector<unsigned char> data(bytes);
          if (transport.rank() == 0) {
            std::iota(data.begin(), data.end(), static_cast<unsigned char>(bytes));
            wait(transport, transport.send(1, 5, data.data(), bytes));
          } else {
            wait(transport, transport.receive(0, 5, data.data(), bytes));
            for (std::size_t i = 0; i < bytes; ++i)
              ASSERT_EQ(data[i], static_cast<unsigned char>(bytes + i));
          }
        }
      },
      GetParam());
}

TEST_P(ThreadTransportModes, MessagesWithOneTagMatchInTheOrderSentAndTagsAreSeparate) {
  constexpr int kMessages = 500;
  run_ranks(
      2,
      [](Transport& transport) {
        std::vector<int> values(kMessages);
        std::vector<Ticket> tickets;
        for (int i = 0; i < kMessages; ++i) {
          const Tag tag = i % 3;
          if (transport.rank() == 0) {
            values[i] = i;
            tickets.push_back(transport.send(1, tag, &values[i], sizeof(int)));
          } else {
            const int j = kMessages - 1 - i;  // another order among the tags, not within one
            values[i] = -1;
            const Tag wanted = j % 3;
            tickets.push_back(transport.receive(0, wanted, &values[i], sizeof(int)));
          }
        }
        for (const Ticket ticket : tickets) wait(transport, ticket);
        if (transport.rank() == 0) return;
        std::vector<int> next{0, 1, 2};
        for (int i = 0; i < kMessages; ++i) {
          const Tag tag = (kMessages - 1 - i) % 3;
          ASSERT_EQ(values[i], next[tag]);
          next[tag] += 3;
        }
      },
      GetParam());
}

TEST_P(ThreadTransportModes, ARankCanSendToItself) {
  run_ranks(
      1,
      [](Transport& transport) {
        const double sent = 2.5;
        double received = 0;
        const Ticket send = transport.send(0, 1, &sent, sizeof sent);
        const Ticket receive = transport.receive(0, 1, &received, sizeof received);
        wait(transport, receive);
        wait(transport, send);
        EXPECT_EQ(received, 2.5);
      },
      GetParam());
}

TEST_P(ThreadTransportModes, AllRanksExchangeWithAll) {
  run_ranks(
      5,
      [](Transport& transport) {
        const int size = transport.size();
        for (int round = 0; round < 50; ++round) {
          const int mine = transport.rank() * 1'000 + round;
          std::vector<int> theirs(size, -1);
          std::vector<Ticket> tickets;
          for (Rank peer = 0; peer < size; ++peer) {
            tickets.push_back(transport.receive(peer, round, &theirs[peer], sizeof(int)));
            tickets.push_back(transport.send(peer, round, &mine, sizeof(int)));
          }
          for (const Ticket ticket : tickets) wait(transport, ticket);
          for (Rank peer = 0; peer < size; ++peer) ASSERT_EQ(theirs[peer], peer * 1'000 + round);
        }
      },
      GetParam());
}

TEST_P(ThreadTransportModes, AMessageOfAnotherSizeIsAMismatch) {
  ThreadWorld world(2, GetParam());
  const auto errors = errors_of_ranks(world, [](Transport& transport) {
    std::vector<char> data(16);
    if (transport.rank() == 0)
      wait(transport, transport.send(1, 0, data.data(), 16));
    else
      wait(transport, transport.receive(0, 0, data.data(), 15));
  });
  EXPECT_EQ(errors[0], nullptr);
  ASSERT_NE(errors[1], nullptr);
  EXPECT_EQ(code_of(errors[1]), ErrorCode::mismatch);
}

TEST_P(ThreadTransportModes, NoticesArriveInOrderFromEachSender) {
  run_ranks(
      3,
      [](Transport& transport) {
        constexpr int kNotices = 40;
        if (transport.rank() > 0) {
          for (int i = 0; i < kNotices; ++i) {
            Notice notice{.sender = -1, .kind = 4, .sequence = static_cast<std::uint64_t>(i)};
            std::strcpy(notice.text.data(), "still here");
            transport.notify(0, notice);
          }
          return;
        }
        std::vector<std::uint64_t> next(3);
        for (int received = 0; received < 2 * kNotices;) {
          const auto notice = transport.poll_notice();
          if (!notice) continue;
          ++received;
          ASSERT_TRUE(notice->sender == 1 || notice->sender == 2);
          EXPECT_EQ(notice->kind, 4u);
          EXPECT_STREQ(notice->text.data(), "still here");
          EXPECT_EQ(notice->sequence, next[notice->sender]++);
        }
        EXPECT_FALSE(transport.poll_notice());
      },
      GetParam());
}

TEST_P(ThreadTransportModes, ACancelledReceiveIsNeverWrittenAndLetsTheNextOneMatch) {
  run_ranks(
      2,
      [](Transport& transport) {
        const int sent = 9;
        if (transport.rank() == 0) {
          int go = 0;
          wait(transport, transport.receive(1, 1, &go, sizeof go));
          wait(transport, transport.send(1, 0, &sent, sizeof sent));
          return;
        }
        auto abandoned = std::make_unique<int>(-1);
        transport.cancel(transport.receive(0, 0, abandoned.get(), sizeof(int)));
        abandoned.reset();  // the address sanitizer would see a late write
        wait(transport, transport.send(0, 1, &sent, sizeof sent));
        int received = 0;
        wait(transport, transport.receive(0, 0, &received, sizeof received));
        EXPECT_EQ(received, 9);
      },
      GetParam());
}

TEST(ThreadTransport, ASynchronousSendCompletesOnlyAfterItsReceiveIsPosted) {
  std::atomic<bool> posted = false;
  run_ranks(2,
            [&posted](Transport& transport) {
              int value = 3;
              if (transport.rank() == 0) {
                const Ticket ticket = transport.send(1, 0, &value, sizeof value);
                for (int i = 0; i < 1'000; ++i) ASSERT_FALSE(transport.test(ticket));
                posted = true;
                wait(transport, ticket);
              } else {
                while (!posted) std::this_thread::yield();
                wait(transport, transport.receive(0, 0, &value, sizeof value));
              }
            },
            {.synchronous_sends = true});
}

TEST(ThreadTransport, ACancelledSendStillArrives) {
  std::atomic<bool> cancelled = false;
  run_ranks(2,
            [&cancelled](Transport& transport) {
              auto value = std::make_unique<int>(transport.rank() == 0 ? 11 : 0);
              if (transport.rank() == 0) {
                transport.cancel(transport.send(1, 0, value.get(), sizeof(int)));
                value.reset();
                cancelled = true;
              } else {
                while (!cancelled) std::this_thread::yield();
                wait(transport, transport.receive(0, 0, value.get(), sizeof(int)));
                EXPECT_EQ(*value, 11);
              }
            },
            {.synchronous_sends = true});
}

TEST(ThreadTransport, DelaysLetMessagesOfDifferentTagsOvertake) {
  bool overtaken = false;
  run_ranks(1,
            [&overtaken](Transport& transport) {
              const int value = 1;
              std::vector<int> received(100);
              std::vector<Ticket> tickets;
              for (int i = 0; i < 100; ++i) {
                transport.send(0, i, &value, sizeof value);
                tickets.push_back(transport.receive(0, i, &received[i], sizeof(int)));
              }
              bool waiting = false;
              for (const Ticket ticket : tickets) {
                const bool done = transport.test(ticket);
                overtaken = overtaken || (done && waiting);
                waiting = waiting || !done;
              }
            },
            {.delay_seed = 3});
  EXPECT_TRUE(overtaken);
}

TEST(ThreadTransport, AbortMakesEveryOtherRankThrowPeerLost) {
  ThreadWorld world(3);
  const auto errors = errors_of_ranks(world, [](Transport& transport) {
    int value = 0;
    if (transport.rank() == 1) transport.abort(7);
    wait(transport, transport.receive(1, 0, &value, sizeof value));
  });
  for (const auto& error : errors) {
    ASSERT_NE(error, nullptr);
    EXPECT_EQ(code_of(error), ErrorCode::peer_lost);
  }
}

TEST(ThreadTransport, RunRanksThrowsTheFirstErrorAndEndsTheOtherRanks) {
  EXPECT_THROW(run_ranks(3,
                         [](Transport& transport) {
                           int value = 0;
                           if (transport.rank() == 2) throw std::logic_error("mine");
                           wait(transport, transport.receive(2, 0, &value, sizeof value));
                         }),
               std::logic_error);
}

TEST(ThreadTransport, ALostRankFailsItselfAndReachesNobody) {
  ThreadWorld world(2);
  world.lose_after(1, 2);
  std::atomic<bool> lost = false;
  const auto errors = errors_of_ranks(world, [&lost](Transport& transport) {
    const int value = 1;
    int received = 0;
    if (transport.rank() == 1) {
      transport.send(0, 0, &value, sizeof value);
      transport.send(0, 0, &value, sizeof value);
      try {
        transport.send(0, 0, &value, sizeof value);
      } catch (...) {
        transport.notify(0, Notice{});
        lost = true;
        throw;
      }
    }
    while (!lost) std::this_thread::yield();
    transport.notify(1, Notice{});
    for (int i = 0; i < 2; ++i)
      wait(transport, transport.receive(1, 0, &received, sizeof received));
    const Ticket third = transport.receive(1, 0, &received, sizeof received);
    for (int i = 0; i < 1'000; ++i) ASSERT_FALSE(transport.test(third));
    EXPECT_FALSE(transport.poll_notice());
  });
  EXPECT_EQ(errors[0], nullptr);
  ASSERT_NE(errors[1], nullptr);
  EXPECT_EQ(code_of(errors[1]), ErrorCode::peer_lost);
}

TEST(ThreadTransport, SplitOrdersByKeyThenRankAndKeepsTheGroupsApart) {
  ThreadWorld world(Topology({0, 0, 1, 1, 1}));
  run_ranks(world, [](Transport& transport) {
    const Rank rank = transport.rank();
    const auto half = transport.split(rank % 2, -rank);
    ASSERT_EQ(half->size(), rank % 2 == 0 ? 3 : 2);
    EXPECT_EQ(half->rank(), rank % 2 == 0 ? (4 - rank) / 2 : (3 - rank) / 2);
    EXPECT_EQ(half->topology().nodes(), 2);

    const Rank next = (half->rank() + 1) % half->size();
    const Rank previous = (half->rank() + half->size() - 1) % half->size();
    int received = -1;
    const Ticket receive = half->receive(previous, 0, &received, sizeof received);
    wait(*half, half->send(next, 0, &rank, sizeof rank));
    wait(*half, receive);
    EXPECT_EQ(received % 2, rank % 2);

    const auto again = half->split(0, 0);
    EXPECT_EQ(again->rank(), half->rank());
    const auto none = transport.split(rank == 3 ? -1 : 0, 0);
    EXPECT_EQ(none == nullptr, rank == 3);
    if (none) {
      EXPECT_EQ(none->size(), 4);
    }
  });
}

}  // namespace
}  // namespace rondo::transport
