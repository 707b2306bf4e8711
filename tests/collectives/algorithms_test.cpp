#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <rondo/error.hpp>

#include "collectives/bytes_sent.hpp"
#include "collectives/registry.hpp"
#include "collectives/verify.hpp"
#include "support/sanitized.hpp"

namespace rondo::collectives {
namespace {

using transport::Topology;

constexpr int kLargestSize = 64;

int next_size(int size) { return size + (kSanitized && size >= 17 ? 5 : 1); }

std::vector<Plan> plans_of(const Algorithm& algorithm, const Topology& topology, Rank origin = 0) {
  std::vector<Plan> plans;
  for (Rank rank = 0; rank < topology.size(); ++rank)
    plans.push_back(algorithm.plan({rank, topology.size(), &topology, origin}));
  return plans;
}

int blocks_of(const Algorithm& algorithm, const Topology& topology) {
  return algorithm.blocks({0, topology.size(), &topology});
}

std::string fault(const Algorithm& algorithm, const Topology& topology, std::size_t elements,
                  Trial trial) {
  if (algorithm.deterministic) trial.canonical = &topology;
  const Layout layout = Layout::even(elements, blocks_of(algorithm, topology));
  return find_fault(plans_of(algorithm, topology, trial.origin), algorithm.collective, layout,
                    trial)
      .value_or("");
}

class EveryAlgorithm : public testing::TestWithParam<Algorithm> {
 protected:
  const Algorithm& algorithm() const { return GetParam(); }
  bool in_place_exists() const { return algorithm().collective != Collective::all_to_all; }

  /// Whole and in segments that don't fit the blocks, in every window.
  void expect_right(const Topology& topology) const {
    const auto blocks = static_cast<std::size_t>(blocks_of(algorithm(), topology));
    for (const int window : {1, 2, 4}) {
      const Trial whole{.window = window, .in_place = in_place_exists() && window == 2};
      EXPECT_EQ(fault(algorithm(), topology, blocks, whole), "") << text(topology, window);
      const Trial cut{.segment = 2, .window = window, .in_place = in_place_exists() && window < 4};
      EXPECT_EQ(fault(algorithm(), topology, 3 * blocks, cut), "") << text(topology, window);
    }
  }

  void expect_bytes(const Topology& topology) const {
    const int blocks = blocks_of(algorithm(), topology);
    const std::size_t unit = std::lcm(std::lcm(blocks, topology.size()), 2);
    const Layout layout = Layout::even(unit, blocks);
    for (Rank rank = 0; rank < topology.size(); ++rank) {
      const Group group{rank, topology.size(), &topology};
      const Sent expected =
          BytesSent(group, unit)(algorithm().collective, std::string(algorithm().name));
      const std::size_t sent = elements_sent(algorithm().plan(group), layout);
      EXPECT_GE(sent, expected.least) << "rank " << rank << text(topology, 1);
      EXPECT_LE(sent, expected.most) << "rank " << rank << text(topology, 1);
    }
  }

  std::string text(const Topology& topology, int window) const {
    std::vector<std::size_t> nodes;
    for (int node = 0; node < topology.nodes(); ++node)
      nodes.push_back(topology.ranks_of(node).size());
    return fmt::format("window {}, nodes of {}", window, fmt::join(nodes, " "));
  }
};

TEST_P(EveryAlgorithm, IsRightForEverySize) {
  for (int size = 1; size <= kLargestSize; size = next_size(size))
    expect_right(Topology::spread(size));
}

TEST_P(EveryAlgorithm, IsRightOnOneNode) {
  for (int size = 1; size <= kLargestSize; size += size < 9 ? 1 : 11)
    expect_right(Topology::one_node(size));
}

TEST_P(EveryAlgorithm, IsRightOnUnevenNodes) {
  expect_right(Topology({0, 0, 1, 1, 1, 2, 2}));
  expect_right(Topology({0, 1, 0, 1, 0, 1, 0, 1}));                       // alternating
  expect_right(Topology({2, 2, 2, 1, 1, 1, 0, 0, 0, 0}));                 // numbered backwards
  expect_right(Topology({0, 0, 0, 0, 1}));                                // one lane
  expect_right(Topology({0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4}));  // round robin
  expect_right(Topology({0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5, 6, 6, 6, 6}));
}

TEST_P(EveryAlgorithm, IsRightWithFewerElementsThanBlocks) {
  if (algorithm().collective == Collective::all_to_all) return;  // has blocks of one size
  for (const int size : {2, 3, 4, 5, 7, 8, 13})
    for (const std::size_t elements : {0, 1, 2, 3, size - 1, size + 1})
      EXPECT_EQ(fault(algorithm(), Topology::spread(size), elements, {.segment = 1}), "")
          << size << " ranks, " << elements << " elements";
}

TEST_P(EveryAlgorithm, SendsTheBytesOfItsFormula) {
  for (int size = 1; size <= kLargestSize; size = next_size(size))
    expect_bytes(Topology::spread(size));
}

class DeterministicAlgorithm : public EveryAlgorithm {};

TEST_P(DeterministicAlgorithm, SendsTheBytesOfItsFormulaOnNodes) {
  expect_bytes(Topology::one_node(6));
  expect_bytes(Topology({0, 0, 1, 1, 1, 2, 2}));
  expect_bytes(Topology({0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3}));
}

RC_GTEST_PROP(DeterministicAlgorithms, GiveTheCanonicalValueForAnyNodesAndRoot, ()) {
  const auto node_of = *rc::gen::resize(
      24, rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 7))));
  const Topology topology(node_of);
  Trial trial{.segment = *rc::gen::inRange<std::size_t>(1, 4),
              .window = *rc::gen::inRange(1, 5),
              .in_place = *rc::gen::arbitrary<bool>(),
              .origin = *rc::gen::inRange(0, topology.size())};
  const auto elements = *rc::gen::inRange<std::size_t>(0, 100);
  for (const Algorithm& algorithm : algorithms())
    if (algorithm.deterministic) RC_ASSERT(fault(algorithm, topology, elements, trial) == "");
}

RC_GTEST_PROP(Algorithms, AreRightForUnevenBlocks, ()) {
  const int size = *rc::gen::inRange(1, 20);
  const Topology topology = Topology::spread(size);
  const Trial trial{.segment = *rc::gen::inRange<std::size_t>(1, 6),
                    .window = *rc::gen::inRange(1, 5),
                    .in_place = *rc::gen::arbitrary<bool>()};
  for (const Algorithm& algorithm : algorithms()) {
    if (algorithm.collective == Collective::all_to_all) continue;
    const auto sizes = *rc::gen::container<std::vector<std::size_t>>(
        static_cast<std::size_t>(blocks_of(algorithm, topology)),
        rc::gen::inRange<std::size_t>(0, 5));
    const auto what = find_fault(plans_of(algorithm, topology), algorithm.collective,
                                 Layout::uneven(sizes), trial);
    RC_ASSERT(what.value_or("") == "");
  }
}

std::string label(const testing::TestParamInfo<Algorithm>& tested) {
  return fmt::format("{}_{}", name_of(tested.param.collective), tested.param.name);
}

std::vector<Algorithm> deterministic_algorithms() {
  std::vector<Algorithm> found;
  for (const Algorithm& algorithm : algorithms())
    if (algorithm.deterministic) found.push_back(algorithm);
  return found;
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryAlgorithm,
                         testing::ValuesIn(algorithms().begin(), algorithms().end()), label);
INSTANTIATE_TEST_SUITE_P(Registry, DeterministicAlgorithm,
                         testing::ValuesIn(deterministic_algorithms()), label);

TEST(Registry, EveryReducingCollectiveHasADeterministicAlgorithm) {
  for (const Collective collective :
       {Collective::allreduce, Collective::reduce, Collective::reduce_scatter}) {
    const auto found = deterministic_algorithms();
    EXPECT_TRUE(std::any_of(found.begin(), found.end(), [&](const Algorithm& algorithm) {
      return algorithm.collective == collective;
    })) << name_of(collective);
  }
}

TEST(Registry, AnUnknownNameIsAnErrorThatListsTheKnownOnes) {
  try {
    find_algorithm(Collective::gather, "rign");
    FAIL() << "found";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    const std::string what = error.what();
    EXPECT_NE(what.find("gather has no algorithm \"rign\""), std::string::npos) << what;
    EXPECT_NE(what.find("binomial_tree, direct"), std::string::npos) << what;
  }
}

}  // namespace
}  // namespace rondo::collectives
