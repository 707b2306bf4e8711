#include "transport/topology.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace rondo::transport {
namespace {

TEST(Topology, NumbersNodesByTheirLowestRankWhateverTheirNames) {
  const Topology topology({70, -3, 70, 5, -3});
  EXPECT_EQ(topology.size(), 5);
  EXPECT_EQ(topology.nodes(), 3);
  const std::vector<int> expected{0, 1, 0, 2, 1};
  for (Rank rank = 0; rank < 5; ++rank) EXPECT_EQ(topology.node_of(rank), expected[rank]);
}

TEST(Topology, ListsTheRanksOfANodeAscendingAndTheirPlaces) {
  const Topology topology({1, 0, 1, 1, 0});
  EXPECT_EQ(topology.ranks_of(0), (std::vector<Rank>{0, 2, 3}));
  EXPECT_EQ(topology.ranks_of(1), (std::vector<Rank>{1, 4}));
  EXPECT_EQ(topology.node_rank(3), 2);
  EXPECT_EQ(topology.node_rank(4), 1);
}

TEST(Topology, LanesAreTheRanksOfTheSmallestNode) {
  EXPECT_EQ(Topology({0, 0, 0, 1, 1}).lanes(), 2);
  EXPECT_EQ(Topology({0, 0, 0, 1}).lanes(), 1);
  EXPECT_EQ(Topology::one_node(4).lanes(), 4);
  EXPECT_EQ(Topology::spread(4).lanes(), 1);
}

TEST(Topology, SpreadAndOneNodeAreTheExtremes) {
  EXPECT_EQ(Topology::spread(3).nodes(), 3);
  EXPECT_EQ(Topology::one_node(3).nodes(), 1);
  EXPECT_EQ(Topology::one_node(1).node_rank(0), 0);
}

}  // namespace
}  // namespace rondo::transport
