#include "collectives/agreement.hpp"

#include <thread>

#include <gtest/gtest.h>

#include "support/thread_ranks.hpp"

namespace rondo::collectives {
namespace {

Signature signature_of(std::uint64_t count) {
  Signature signature;
  signature.collective = Collective::allreduce;
  signature.count = count;
  return signature;
}

/// What a rank knows when the agreement is done.
std::optional<Conflict> agree(transport::Transport& transport, std::uint64_t count) {
  Agreement agreement(transport);
  agreement.start(signature_of(count), 8);
  while (!agreement.step()) std::this_thread::yield();
  return agreement.conflict();
}

TEST(Agreement, FindsNothingWhereAllAgree) {
  for (int size = 1; size <= 9; ++size)
    testing::run_ranks(size, [](transport::Transport& transport) {
      EXPECT_FALSE(agree(transport, 5).has_value());
    });
}

TEST(Agreement, TellsEveryRankOfOneThatDiffers) {
  for (int size = 2; size <= 9; ++size)
    for (Rank odd = 0; odd < size; ++odd)
      testing::run_ranks(size, [odd](transport::Transport& transport) {
        const auto conflict = agree(transport, transport.rank() == odd ? 6 : 5);
        ASSERT_TRUE(conflict.has_value()) << "rank " << transport.rank();
        EXPECT_TRUE(conflict->rank == odd || conflict->other_rank == odd);
        EXPECT_NE(conflict->signature.count, conflict->other_signature.count);
      });
}

TEST(Agreement, EndsForNobodyBeforeTheLastRankHasArrived) {
  for (int size = 2; size <= 8; ++size) {
    std::atomic<bool> last_arrived = false;
    testing::run_ranks(size, [&](transport::Transport& transport) {
      if (transport.rank() == size / 2) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        last_arrived = true;
      }
      agree(transport, 5);
      EXPECT_TRUE(last_arrived) << "rank " << transport.rank() << " of " << size;
    });
  }
}

TEST(Signature, NamesTheFieldsThatDiffer) {
  Signature a = signature_of(5);
  Signature b = a;
  EXPECT_EQ(differences(a, b), "");
  b.type = DataType::float64;
  b.root = 3;
  EXPECT_EQ(differences(a, b), "type, root");
  set_algorithm(b, "ring");
  EXPECT_NE(a, b);
  EXPECT_NE(describe(b).find("ring"), std::string::npos);
}

}  // namespace
}  // namespace rondo::collectives
