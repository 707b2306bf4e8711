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

/// Every rank brings its number, plus the element's; 16-bit floats check what travels wider.
template <class T>
void expect_sums(transport::Transport& transport, std::size_t count, Rank only) {
  std::vector<T> input(count);
  std::vector<T> output(count, T(-1.0F));
  for (std::size_t i = 0; i < count; ++i)
    input[i] = T(static_cast<float>(transport.rank()) + static_cast<float>(i % 3));
  Agreement agreement(transport);
  const bool wanted = only < 0 || only == transport.rank();
  agreement.start(signature_of(count), 8,
                  {reinterpret_cast<const std::byte*>(input.data()),
                   wanted ? reinterpret_cast<std::byte*>(output.data()) : nullptr, count,
                   Arithmetic(data_type_of<T>, ReduceOp::sum, transport.size(), 1.0, false)});
  while (!agreement.step()) std::this_thread::yield();
  const int n = transport.size();
  for (std::size_t i = 0; i < count; ++i) {
    const float sum =
        static_cast<float>(n * (n - 1) / 2) + static_cast<float>(n) * static_cast<float>(i % 3);
    ASSERT_EQ(static_cast<float>(output[i]), wanted ? sum : -1.0F)
        << "element " << i << " of " << count << ", rank " << transport.rank() << " of " << n;
  }
}

TEST(Agreement, CarriesDataWholeAndInParts) {
  constexpr std::size_t kWhole = kWholeLimit / sizeof(float);
  for (int size = 1; size <= 18; ++size)
    testing::run_ranks(size, [](transport::Transport& transport) {
      const std::size_t most =
          piggyback_limit(Collective::allreduce, transport.size()) / sizeof(float);
      for (const std::size_t count : {std::size_t{1}, std::size_t{2}, kWhole, most - 1, most}) {
        expect_sums<float>(transport, count, -1);
        expect_sums<bfloat16>(transport, 2 * count, -1);
      }
    });
}

TEST(Agreement, GivesTheResultToTheOneRankThatWantsIt) {
  for (int size = 2; size <= 7; ++size)
    for (Rank root = 0; root < size; ++root)
      testing::run_ranks(size, [root](transport::Transport& transport) {
        expect_sums<float>(transport, 5, root);
      });
}

TEST(Agreement, LeavesTheOutputAloneWhereRanksDiffer) {
  for (int size = 2; size <= 9; ++size)
    testing::run_ranks(size, [](transport::Transport& transport) {
      // One brings so much more that it works in parts.
      const bool odd = transport.rank() == transport.size() - 1;
      const std::size_t count =
          odd ? piggyback_limit(Collective::allreduce, transport.size()) / sizeof(float) : 1;
      const std::vector<float> input(count, 1.0F);
      std::vector<float> output(count, 7.0F);
      Agreement agreement(transport);
      agreement.start(signature_of(count), 8,
                      {reinterpret_cast<const std::byte*>(input.data()),
                       reinterpret_cast<std::byte*>(output.data()), count,
                       Arithmetic(DataType::float32, ReduceOp::sum, transport.size(), 1.0, false)});
      while (!agreement.step()) std::this_thread::yield();
      ASSERT_TRUE(agreement.conflict().has_value());
      EXPECT_EQ(output, std::vector<float>(count, 7.0F));
    });
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
