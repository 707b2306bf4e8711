#include "collectives/simulate.hpp"

#include <bit>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace rondo::collectives {
namespace {

using transport::Topology;

constexpr CostModel kCost{.alpha = 3e-6, .beta = 2e-9, .gamma = 5e-10};

/// A time in the terms of the model.
double time(double messages, double bytes, double reduced = 0) {
  return messages * kCost.alpha + bytes * kCost.beta + reduced * kCost.gamma;
}

double simulated(Collective collective, std::string_view name, int ranks, Scenario scenario) {
  scenario.cost = kCost;
  return simulate(find_algorithm(collective, name), Topology::spread(ranks), scenario).seconds;
}

void expect_near(double actual, double expected) { EXPECT_NEAR(actual, expected, 1e-9 * expected); }

TEST(Simulate, Ring) {
  for (const int n : {1, 2, 3, 5, 8, 40}) {
    const double M = 1000 * n;
    SCOPED_TRACE(n);
    expect_near(simulated(Collective::allreduce, "ring", n, {.bytes = 1000ul * n}),
                time(2 * (n - 1), 2 * (n - 1) * M / n, (n - 1) * M / n));
    expect_near(simulated(Collective::allgather, "ring", n, {.bytes = 1000ul * n}),
                time(n - 1, (n - 1) * M / n));
  }
}

TEST(Simulate, RecursiveDoubling) {
  for (const int p : {0, 1, 2, 3, 6}) {
    SCOPED_TRACE(p);
    expect_near(simulated(Collective::allreduce, "recursive_doubling", 1 << p, {.bytes = 4096}),
                time(p, p * 4096, p * 4096));
  }
}

TEST(Simulate, RecursiveDoublingBetweenPowersOfTwo) {
  // Two more messages, of which the first is reduced too.
  expect_near(simulated(Collective::allreduce, "recursive_doubling", 6, {.bytes = 4096}),
              time(4, 4 * 4096, 3 * 4096));
}

TEST(Simulate, HalvingDoubling) {
  const double moved = 4096 * (1 - 1.0 / 16);
  expect_near(simulated(Collective::allreduce, "halving_doubling", 16, {.bytes = 4096}),
              time(8, 2 * moved, moved));
}

TEST(Simulate, BinomialBroadcast) {
  for (const int n : {2, 3, 4, 7, 16, 33}) {
    const int steps = std::bit_width(static_cast<unsigned>(n - 1));
    SCOPED_TRACE(n);
    expect_near(simulated(Collective::broadcast, "binomial_tree", n, {.bytes = 512}),
                time(steps, steps * 512));
  }
}

TEST(Simulate, SegmentsFlowThroughAChain) {
  // s segments and n ranks: s + n - 2 segments in a row.
  expect_near(simulated(Collective::broadcast, "chain", 5, {.bytes = 8000, .segment = 1000}),
              time(8 + 3, (8 + 3) * 1000));
}

TEST(Simulate, ReducingOverlapsWithReceivingIfThereAreTwoSlots) {
  // One segment is reduced while the next arrives; with a single slot it can't arrive.
  const Scenario one{.bytes = 8000, .segment = 1000, .window = 1};
  const Scenario two{.bytes = 8000, .segment = 1000, .window = 2};
  expect_near(simulated(Collective::reduce, "chain", 2, one), time(8, 8000, 8000));
  expect_near(simulated(Collective::reduce, "chain", 2, two), time(8, 8000, 1000));
}

TEST(Simulate, TheRootOfADirectGatherReceivesOneAfterAnother) {
  expect_near(simulated(Collective::gather, "direct", 9, {.bytes = 900}), time(8, 800));
}

TEST(Simulate, PairwiseAllToAllKeepsAllPortsBusy) {
  expect_near(simulated(Collective::all_to_all, "pairwise", 8, {.bytes = 800}), time(7, 700));
}

TEST(Simulate, DoubleBinaryTreesBeatTheRingOnManyRanksAndTheTreeOnLargeMessages) {
  const Scenario large{.bytes = 1 << 18, .segment = 1 << 13};
  const double trees = simulated(Collective::allreduce, "double_binary_tree", 256, large);
  EXPECT_LT(trees, simulated(Collective::allreduce, "ring", 256, large));
  EXPECT_LT(trees, simulated(Collective::allreduce, "binomial_tree", 256, large));
}

TEST(Simulate, MessagesPassEachOtherOnTheWire) {
  // The root's port takes one after another; only the last one's wire is waited for.
  const auto gather = [](double wire) {
    const Scenario scenario{.bytes = 9, .cost = {.alpha = 3, .wire = wire}};
    return simulate(find_algorithm(Collective::gather, "direct"), Topology::spread(9), scenario)
        .seconds;
  };
  EXPECT_EQ(gather(0), 24);
  EXPECT_EQ(gather(2), 8 * 1 + 2);
}

TEST(Simulate, TellsWhenEachMessageTravelled) {
  const Scenario scenario{.bytes = 3, .cost = {.alpha = 1}};
  const auto outcome =
      simulate(find_algorithm(Collective::allreduce, "ring"), Topology::spread(3), scenario);
  ASSERT_EQ(outcome.messages.size(), 12u);
  for (std::size_t i = 0; i < 12; ++i) {
    const Message& message = outcome.messages[i];
    EXPECT_EQ(message.to, (message.from + 1) % 3);
    EXPECT_EQ(message.begin, static_cast<double>(i / 3));
    EXPECT_EQ(message.end, message.begin + 1);
  }
}

TEST(Simulate, TenThousandRanks) {
  expect_near(simulated(Collective::allreduce, "recursive_doubling", 8192, {.bytes = 64}),
              time(13, 13 * 64, 13 * 64));
  EXPECT_GT(simulated(Collective::allreduce, "halving_doubling", 10000, {.bytes = 1 << 20}), 0);
  EXPECT_GT(simulated(Collective::allreduce, "double_binary_tree", 10000, {.bytes = 1 << 20}), 0);
}

RC_GTEST_PROP(Simulate, NothingIsFasterThanItsLongestPath, ()) {
  // No all-reduce beats ⌈log2 n⌉ latencies, nor the time in which a rank's port receives what it
  // lacks.
  const int n = *rc::gen::inRange(2, 40);
  const auto bytes = *rc::gen::inRange<std::size_t>(1, 100000);
  const Scenario scenario{.bytes = bytes, .segment = *rc::gen::inRange<std::size_t>(100, 5000)};
  const double latency = kCost.alpha * std::bit_width(static_cast<unsigned>(n - 1));
  for (const Algorithm& algorithm : algorithms()) {
    if (algorithm.collective != Collective::allreduce) continue;
    const double seconds = simulated(Collective::allreduce, algorithm.name, n, scenario);
    RC_ASSERT(seconds >= latency * (1 - 1e-9) ||
              bytes < static_cast<std::size_t>(n));  // empty blocks send nothing
    RC_ASSERT(seconds >= kCost.beta * static_cast<double>(bytes) * (1 - 1e-9));
  }
}

}  // namespace
}  // namespace rondo::collectives
