#include "transport/mpi_transport.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <rondo/error.hpp>

namespace rondo::transport {
namespace {

using namespace std::chrono_literals;

void wait(Transport& transport, Ticket ticket) {
  while (!transport.test(ticket)) std::this_thread::yield();
}

/// Keeps the tests from meeting each other.
void barrier() { MPI_Barrier(MPI_COMM_WORLD); }

std::optional<Notice> wait_for_notice(Transport& transport,
                                      std::chrono::milliseconds patience = 20s) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (std::chrono::steady_clock::now() < deadline) {
    if (auto notice = transport.poll_notice()) return notice;
    std::this_thread::yield();
  }
  return std::nullopt;
}

template <class Body>
ErrorCode code_thrown_by(const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.code();
  }
  ADD_FAILURE() << "nothing was thrown";
  return ErrorCode::system;
}

std::vector<unsigned char> pattern(std::size_t bytes, Rank from, Rank to) {
  std::vector<unsigned char> data(bytes);
  std::iota(data.begin(), data.end(), static_cast<unsigned char>(bytes + 31 * from + 7 * to));
  return data;
}

void exchange_with_all(Transport& transport, std::size_t bytes) {
  std::vector<std::vector<unsigned char>> sent, received;
  std::vector<Ticket> tickets;
  for (Rank peer = 0; peer < transport.size(); ++peer) {
    sent.push_back(pattern(bytes, transport.rank(), peer));
    received.emplace_back(bytes);
    tickets.push_back(transport.receive(peer, 3, received[peer].data(), bytes));
    tickets.push_back(transport.send(peer, 3, sent[peer].data(), bytes));
  }
  for (const Ticket ticket : tickets) wait(transport, ticket);
  for (Rank peer = 0; peer < transport.size(); ++peer)
    ASSERT_EQ(received[peer], pattern(bytes, peer, transport.rank())) << bytes << " bytes";
}

TEST(MpiTransport, KnowsItsPlaceAndThatAllRanksShareThisNode) {
  MpiTransport transport(MPI_COMM_WORLD);
  int rank = -1;
  int size = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  EXPECT_EQ(transport.rank(), rank);
  EXPECT_EQ(transport.size(), size);
  EXPECT_EQ(transport.topology().nodes(), 1);
}

TEST(MpiTransport, MessagesOfEverySizeArriveUnchanged) {
  MpiTransport transport(MPI_COMM_WORLD);
  for (const std::size_t bytes : {0, 1, 7, 4'096, 300'001}) exchange_with_all(transport, bytes);
}

TEST(MpiTransport, NullPointersAreFineForEmptyMessages) {
  MpiTransport transport(MPI_COMM_WORLD);
  const Ticket receive = transport.receive(transport.rank(), 0, nullptr, 0);
  const Ticket send = transport.send(transport.rank(), 0, nullptr, 0);
  wait(transport, receive);
  wait(transport, send);
}

TEST(MpiTransport, MessagesBeyondTheCountOfOneCallArriveUnchanged) {
  MpiTransport transport(MPI_COMM_WORLD, {.max_count = 1'000});
  for (const std::size_t bytes : {999, 1'000, 1'001, 2'000, 300'001})
    exchange_with_all(transport, bytes);
}

TEST(MpiTransport, MessagesWithOneTagMatchInTheOrderSent) {
  MpiTransport transport(MPI_COMM_WORLD);
  constexpr int kMessages = 300;
  const Rank next = (transport.rank() + 1) % transport.size();
  const Rank previous = (transport.rank() + transport.size() - 1) % transport.size();
  std::vector<int> sent(kMessages), received(kMessages, -1);
  std::vector<Ticket> tickets;
  std::iota(sent.begin(), sent.end(), 0);
  for (int i = 0; i < kMessages; ++i) {
    tickets.push_back(transport.receive(previous, i % 2, &received[i], sizeof(int)));
    tickets.push_back(transport.send(next, i % 2, &sent[i], sizeof(int)));
  }
  for (const Ticket ticket : tickets) wait(transport, ticket);
  EXPECT_EQ(received, sent);
}

TEST(MpiTransport, ReceivesMatchInTheOrderStartedHoweverTheyAreTested) {
  MpiTransport transport(MPI_COMM_WORLD);
  constexpr int kMessages = 20;
  const Rank next = (transport.rank() + 1) % transport.size();
  const Rank previous = (transport.rank() + transport.size() - 1) % transport.size();
  std::vector<int> sent(kMessages), received(kMessages, -1);
  std::vector<Ticket> sends, receives;
  std::iota(sent.begin(), sent.end(), 0);
  for (int& value : received)
    receives.push_back(transport.receive(previous, 0, &value, sizeof value));
  EXPECT_FALSE(transport.test(receives.back()));
  barrier();
  for (const int& value : sent) sends.push_back(transport.send(next, 0, &value, sizeof value));
  for (auto ticket = receives.rbegin(); ticket != receives.rend(); ++ticket)
    wait(transport, *ticket);
  for (const Ticket ticket : sends) wait(transport, ticket);
  EXPECT_EQ(received, sent);
}

TEST(MpiTransport, ReceivesOfKnownSizeMatchBehindThoseThatWaitAndCanBeCancelled) {
  MpiTransport transport(MPI_COMM_WORLD);
  constexpr int kMessages = 20;
  const Rank next = (transport.rank() + 1) % transport.size();
  const Rank previous = (transport.rank() + transport.size() - 1) % transport.size();
  std::vector<int> sent(kMessages), received(kMessages, -1);
  std::vector<Ticket> tickets;
  std::iota(sent.begin(), sent.end(), 0);
  for (int i = 0; i < kMessages; ++i)
    tickets.push_back(transport.receive(previous, 0, &received[i], sizeof(int),
                                        i < kMessages / 2 ? Sizes::checked : Sizes::known));
  auto abandoned = std::make_unique<int>(-1);
  const Ticket beyond = transport.receive(previous, 0, abandoned.get(), sizeof(int), Sizes::known);
  for (const int& value : sent) tickets.push_back(transport.send(next, 0, &value, sizeof value));
  for (const Ticket ticket : tickets) wait(transport, ticket);
  EXPECT_EQ(received, sent);
  transport.cancel(beyond);
}

/// A message of `sent` bytes from each rank to the one `distance` further, and a receive of
/// `expected` bytes, behind which nothing may be written.
void expect_mismatch(MpiTransport& transport, int distance, std::size_t sent,
                     std::size_t expected) {
  constexpr char kCanary = 77;
  const std::vector<char> out(sent, 1);
  std::vector<char> in(expected + sent, kCanary);
  const int size = transport.size();
  const Rank from = (transport.rank() + size - distance) % size;
  const Ticket receive = transport.receive(from, 1, in.data(), expected);
  const Ticket send = transport.send((transport.rank() + distance) % size, 1, out.data(), sent);
  EXPECT_EQ(code_thrown_by([&] { wait(transport, receive); }), ErrorCode::mismatch)
      << sent << " bytes sent, " << expected << " expected";
  wait(transport, send);
  barrier();
  EXPECT_EQ(std::count(in.begin() + static_cast<std::ptrdiff_t>(expected), in.end(), kCanary),
            static_cast<std::ptrdiff_t>(sent))
      << sent << " bytes sent, " << expected << " expected";
}

TEST(MpiTransport, AMessageOfAnotherSizeIsAMismatchAndWritesNothingBeyondItsReceive) {
  MpiTransport transport(MPI_COMM_WORLD, {.max_count = 1'000});
  for (const int distance : {0, 1})
    for (const auto& [sent, expected] : {std::array{8, 7},
                                         {7, 8},
                                         {0, 1},
                                         {1, 0},
                                         {1'001, 1'000},
                                         {1'000, 1'001},
                                         {2'500, 2'400},
                                         {3'000, 2'000},
                                         {2'000'000, 1'999'999},
                                         {2'000'000, 100}})
      expect_mismatch(transport, distance, sent, expected);
}

TEST(MpiTransport, ACancelledReceiveLetsTheNextOneMatch) {
  MpiTransport transport(MPI_COMM_WORLD);
  const Rank self = transport.rank();
  auto abandoned = std::make_unique<int>(-1);
  transport.cancel(transport.receive(self, 0, abandoned.get(), sizeof(int)));
  abandoned.reset();
  const int sent = 42;
  int received = 0;
  const Ticket receive = transport.receive(self, 0, &received, sizeof received);
  const Ticket send = transport.send(self, 0, &sent, sizeof sent);
  wait(transport, receive);
  wait(transport, send);
  EXPECT_EQ(received, 42);
}

TEST(MpiTransport, ACancelledReceiveDoesNotDisturbTheOrderOfTheOthers) {
  MpiTransport transport(MPI_COMM_WORLD);
  const Rank self = transport.rank();
  std::array<int, 3> received{-1, -1, -1};
  std::array<Ticket, 3> receives;
  for (std::size_t i = 0; i < 3; ++i)
    receives[i] = transport.receive(self, 0, &received[i], sizeof(int));
  transport.cancel(receives[1]);
  const std::array<int, 2> sent{10, 11};
  for (const int& value : sent) {
    const Ticket send = transport.send(self, 0, &value, sizeof value);
    wait(transport, receives[&value == sent.data() ? 0 : 2]);
    wait(transport, send);
  }
  EXPECT_EQ(received, (std::array{10, -1, 11}));
}

TEST(MpiTransport, NoticesArriveInOrderFromEachSender) {
  MpiTransport transport(MPI_COMM_WORLD);
  constexpr int kNotices = 50;  // more than stand ready to be received
  for (int i = 0; i < kNotices; ++i)
    for (Rank peer = 0; peer < transport.size(); ++peer) {
      Notice notice{.kind = 4, .sequence = static_cast<std::uint64_t>(i)};
      std::strcpy(notice.text.data(), "still here");
      transport.notify(peer, notice);
    }
  std::vector<std::uint64_t> next(transport.size());
  for (int received = 0; received < kNotices * transport.size(); ++received) {
    const auto notice = wait_for_notice(transport);
    ASSERT_TRUE(notice);
    EXPECT_EQ(notice->kind, 4u);
    EXPECT_STREQ(notice->text.data(), "still here");
    EXPECT_EQ(notice->sequence, next[notice->sender]++);
  }
  barrier();
  EXPECT_FALSE(transport.poll_notice());
}

TEST(MpiTransport, SplitOrdersByKeyThenRankAndKeepsTheGroupsApart) {
  MpiTransport transport(MPI_COMM_WORLD);
  const Rank rank = transport.rank();
  const auto half = transport.split(rank % 2, -rank);
  EXPECT_EQ(half->size(), (transport.size() + 1 - rank % 2) / 2);
  EXPECT_EQ(half->rank(), half->size() - 1 - rank / 2);
  const Rank peer = half->size() - 1 - half->rank();
  int received = -1;
  const Ticket receive = half->receive(peer, 0, &received, sizeof received);
  const Ticket send = half->send(peer, 0, &rank, sizeof rank);
  wait(*half, receive);
  wait(*half, send);
  EXPECT_EQ(received % 2, rank % 2);

  const auto none = transport.split(rank == 0 ? -1 : 0, 0);
  EXPECT_EQ(none == nullptr, rank == 0);
}

TEST(MpiTransport, NeverMeetsAReceiveThatTheUserHasPending) {
  int rank = -1;
  int size = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int users = -1;
  MPI_Request pending = MPI_REQUEST_NULL;
  MPI_Irecv(&users, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &pending);
  {
    MpiTransport transport(MPI_COMM_WORLD);
    exchange_with_all(transport, 64);
    transport.notify((rank + 1) % size, {.kind = 1});
    EXPECT_TRUE(wait_for_notice(transport));
    const auto part = transport.split(0, 0);
    exchange_with_all(*part, 4);
    int done = 0;
    MPI_Test(&pending, &done, MPI_STATUS_IGNORE);
    EXPECT_EQ(done, 0);
  }
  barrier();  // nobody sends before everybody has looked
  MPI_Request send = MPI_REQUEST_NULL;
  MPI_Isend(&rank, 1, MPI_INT, (rank + 1) % size, 9, MPI_COMM_WORLD, &send);
  MPI_Status status;
  MPI_Wait(&pending, &status);
  MPI_Wait(&send, MPI_STATUS_IGNORE);
  EXPECT_EQ(users, (rank + size - 1) % size);
  EXPECT_EQ(status.MPI_TAG, 9);
}

TEST(MpiTransport, LeavesTheUsersErrorHandlerAlone) {
  MPI_Errhandler before = MPI_ERRHANDLER_NULL;
  MPI_Errhandler after = MPI_ERRHANDLER_NULL;
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
  { const MpiTransport transport(MPI_COMM_WORLD); }
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &after);
  EXPECT_EQ(before, after);
  EXPECT_NE(after, MPI_ERRORS_RETURN);
}

TEST(MpiTransport, RefusesCommunicatorsThatItCannotUse) {
  const auto message_for = [](MPI_Comm comm) -> std::string {
    try {
      MpiTransport transport(comm);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::usage);
      return error.what();
    }
    return "nothing thrown";
  };
  EXPECT_NE(message_for(MPI_COMM_NULL).find("MPI_COMM_NULL"), std::string::npos);

  int rank = -1;
  int size = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size < 2) return;
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm inter = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &inter);
  EXPECT_NE(message_for(inter).find("inter-communicator"), std::string::npos);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

TEST(MpiTransport, ARankThatNeverArrivesIsATimeoutForTheOthers) {
  int rank = -1;
  int size = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm everyone = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &everyone);
  if (rank < size - 1) {
    const auto code =
        code_thrown_by([&] { const MpiTransport transport(everyone, {.deadline = 200ms}); });
    EXPECT_EQ(code, ErrorCode::timeout);
  }
  barrier();
}

TEST(MpiTransport, CommunicatorsAreGivenBackSoThatThereCanBeManyInTurn) {
  int size = -1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != 2) GTEST_SKIP() << "enough with two ranks";
  for (int i = 0; i < 1'100; ++i) {  // two communicators each; MPICH has about 2,000
    MpiTransport transport(MPI_COMM_WORLD);
    exchange_with_all(transport, 8);
  }
}

TEST(MpiTransport, MayBeDestroyedWithOperationsPending) {
  static std::array<char, 100'000> never_received;
  std::array<char, 64> never_sent;
  {
    MpiTransport transport(MPI_COMM_WORLD);
    transport.receive(transport.rank(), 1, never_sent.data(), never_sent.size());
    transport.send(transport.rank(), 2, never_received.data(), never_received.size());
    transport.notify(transport.rank(), {.kind = 1});
  }
  barrier();
}

/// Puts this process under another host name while it lives.
class OtherHost {
 public:
  explicit OtherHost(const std::string& name) {
    gethostname(before_.data(), before_.size());
    moved_ = unshare(CLONE_NEWUTS) == 0 && sethostname(name.data(), name.size()) == 0;
  }
  ~OtherHost() {
    if (moved_ && sethostname(before_.data(), std::strlen(before_.data())) != 0) std::abort();
  }
  bool moved() const { return moved_; }

 private:
  std::array<char, 256> before_{};
  bool moved_ = false;
};

TEST(MpiTransport, RanksUnderDifferentHostNamesAreOnDifferentNodes) {
  int rank = -1;
  int size = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const OtherHost host("virtual" + std::to_string(rank / 2));
  if (!host.moved()) GTEST_SKIP() << "may not make a UTS namespace here";
  const MpiTransport transport(MPI_COMM_WORLD);
  EXPECT_EQ(transport.topology().nodes(), (size + 1) / 2);
  for (Rank r = 0; r < size; ++r) EXPECT_EQ(transport.topology().node_of(r), r / 2);
}

}  // namespace
}  // namespace rondo::transport
