#include "transport/waiting_receives.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace rondo::transport {
namespace {

std::vector<Ticket> empty_out(WaitingReceives& waiting, std::size_t queue) {
  std::vector<Ticket> tickets;
  while (const auto ticket = waiting.oldest(queue)) {
    tickets.push_back(*ticket);
    waiting.remove(queue, *ticket);
  }
  return tickets;
}

TEST(WaitingReceives, KeepsTheOrderOfEachPeerAndTagWhateverTheTickets) {
  WaitingReceives waiting;
  const auto queue = waiting.add(1, 5, 30);
  const auto other_tag = waiting.add(1, 6, 2);
  const auto other_peer = waiting.add(2, 5, 1'000);  // more than usual
  EXPECT_EQ(waiting.add(1, 5, 7), queue);
  EXPECT_EQ(waiting.add(1, 5, 900), queue);
  EXPECT_EQ(empty_out(waiting, queue), (std::vector<Ticket>{30, 7, 900}));
  EXPECT_EQ(empty_out(waiting, other_tag), std::vector<Ticket>{2});
  EXPECT_EQ(empty_out(waiting, other_peer), std::vector<Ticket>{1'000});
}

TEST(WaitingReceives, AnyOneCanBeTakenOut) {
  for (const Ticket out : {0u, 1u, 2u}) {
    WaitingReceives waiting;
    std::size_t queue = 0;
    for (const Ticket ticket : {0u, 1u, 2u}) queue = waiting.add(3, 0, ticket);
    waiting.remove(queue, out);
    EXPECT_EQ(waiting.add(3, 0, 9), queue);
    std::vector<Ticket> expected{0, 1, 2, 9};
    std::erase(expected, out);
    EXPECT_EQ(empty_out(waiting, queue), expected);
  }
}

TEST(WaitingReceives, AnEmptyQueueServesAnotherPeer) {
  WaitingReceives waiting;
  const auto queue = waiting.add(1, 0, 4);
  empty_out(waiting, queue);
  EXPECT_EQ(waiting.add(2, 9, 4), queue);
  EXPECT_EQ(empty_out(waiting, queue), std::vector<Ticket>{4});
}

}  // namespace
}  // namespace rondo::transport
