#include "collectives/node_slices.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

namespace rondo::collectives {
namespace {

constexpr std::size_t kLine = 64;

struct Sliced {
  Collective collective;
  int ranks;
  std::size_t element;
  std::size_t count;  // of the message, or of the largest block
  std::size_t slice_bytes;

  std::string describe() const {
    return std::string(name_of(collective)) + " of " + std::to_string(count) + " elements of " +
           std::to_string(element) + " bytes on " + std::to_string(ranks) + " ranks, slices of " +
           std::to_string(slice_bytes);
  }
};

bool is_in_blocks(Collective collective) {
  return collective == Collective::reduce_scatter || collective == Collective::allgather;
}

/// Blocks of `count`, nothing and a third of it.
Layout blocks_of(const Sliced& sliced) {
  std::vector<std::size_t> counts;
  for (int rank = 0; rank < sliced.ranks; ++rank)
    counts.push_back(rank % 3 == 1 ? 0 : sliced.count / (rank % 3 + 1));
  return Layout::uneven(counts);
}

/// Every element is made exactly once, by the rank that must make it, in slices that fit.
void expect_all_made_once(const Sliced& sliced) {
  SCOPED_TRACE(sliced.describe());
  const Layout blocks = blocks_of(sliced);
  const std::size_t count = is_in_blocks(sliced.collective) ? blocks.count() : sliced.count;
  const Rank root = sliced.ranks - 1;
  NodeSlices slices;
  slices.set({.collective = sliced.collective,
              .ranks = sliced.ranks,
              .root = root,
              .element_bytes = sliced.element,
              .blocks = &blocks,
              .count = count,
              .slice_bytes = sliced.slice_bytes});
  std::vector<int> made(count);
  for (std::size_t piece = 0; piece < slices.pieces(); ++piece)
    for (int rank = 0; rank < sliced.ranks; ++rank) {
      const Slice slice = slices.of(rank, piece);
      if (slice.count == 0) continue;
      ASSERT_LE(slice.begin + slice.count, count);
      EXPECT_LE(slice.count * sliced.element, std::max(sliced.slice_bytes, sliced.element));
      if (is_in_blocks(sliced.collective)) {
        EXPECT_GE(slice.begin, blocks.offset(rank));
        EXPECT_LE(slice.begin + slice.count, blocks.offset(rank) + blocks.size(rank));
      } else if (sliced.collective == Collective::broadcast) {
        EXPECT_EQ(rank, root);
      } else if (sliced.slice_bytes % kLine == 0) {
        EXPECT_EQ(slice.begin * sliced.element % kLine, 0U) << "two ranks write to one line";
      }
      for (std::size_t i = 0; i < slice.count; ++i) ++made[slice.begin + i];
    }
  for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(made[i], 1) << "element " << i;
}

TEST(NodeSlices, MakeEveryElementOnce) {
  for (const Collective collective :
       {Collective::allreduce, Collective::reduce, Collective::broadcast,
        Collective::reduce_scatter, Collective::allgather})
    for (const int ranks : {1, 2, 3, 5, 8})
      for (const std::size_t element : {1, 2, 4, 8})
        for (const std::size_t count : {0, 1, 7, 64, 1'000, 10'007})
          for (const std::size_t slice_bytes : {64, 192, 8'192})
            expect_all_made_once({collective, ranks, element, count, slice_bytes});
}

TEST(NodeSlices, KnowWhoGetsWhatOthersMade) {
  const Layout blocks = Layout::even(30, 3);
  const auto slices_of = [&](Collective collective) {
    NodeSlices slices;
    slices.set({.collective = collective,
                .ranks = 3,
                .root = 1,
                .blocks = &blocks,
                .count = 30,
                .slice_bytes = 64});
    return slices;
  };
  for (int rank = 0; rank < 3; ++rank) {
    EXPECT_TRUE(slices_of(Collective::allreduce).is_for(rank));
    EXPECT_TRUE(slices_of(Collective::allgather).is_for(rank));
    EXPECT_TRUE(slices_of(Collective::broadcast).is_for(rank));
    EXPECT_FALSE(slices_of(Collective::reduce_scatter).is_for(rank));
    EXPECT_EQ(slices_of(Collective::reduce).is_for(rank), rank == 1);
  }
  EXPECT_FALSE(slices_of(Collective::reduce_scatter).is_exchanged());
  EXPECT_TRUE(slices_of(Collective::reduce).is_exchanged());
}

}  // namespace
}  // namespace rondo::collectives
