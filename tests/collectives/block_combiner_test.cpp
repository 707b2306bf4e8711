#include "collectives/block_combiner.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

#include <rondo/half.hpp>

namespace rondo::collectives {
namespace {

constexpr float kUntouched = -1;

std::byte* bytes(void* memory) { return static_cast<std::byte*>(memory); }

// On both sides of the blocks that it works in.
constexpr std::array<std::size_t, 6> kCounts{0, 1, 2'047, 2'048, 2'049, 10'007};

TEST(BlockCombiner, StoresTheCombinationAtEveryTargetThatHasMemory) {
  const Arithmetic arithmetic(DataType::float32, ReduceOp::sum, 3, 1.0, false);
  BlockCombiner combiner;
  for (const std::size_t count : kCounts) {
    std::vector<std::vector<float>> inputs(3, std::vector<float>(count));
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t rank = 0; rank < 3; ++rank)
        inputs[rank][i] = static_cast<float>(i * rank % 1'000);
    std::vector<float> plain(count + 1, kUntouched);
    std::vector<float> streamed(count + 1, kUntouched);
    const std::array<const void*, 3> sources{inputs[0].data(), inputs[1].data(), inputs[2].data()};
    const std::array targets{Target{bytes(plain.data()), false}, Target{},
                             Target{bytes(streamed.data()), true}};
    combiner.combine(arithmetic, sources, targets, count);
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(plain[i], inputs[1][i] + inputs[2][i]) << i << " of " << count;
      ASSERT_EQ(streamed[i], plain[i]) << i << " of " << count;
    }
    EXPECT_EQ(plain[count], kUntouched) << count;
    EXPECT_EQ(streamed[count], kUntouched) << count;
  }
}

TEST(BlockCombiner, ATargetMayBeAnInput) {
  const Arithmetic arithmetic(DataType::float32, ReduceOp::sum, 2, 1.0, false);
  BlockCombiner combiner;
  std::vector<float> own(10'007, 2.0F);
  const std::vector<float> other(own.size(), 3.0F);
  const std::array<const void*, 2> sources{own.data(), other.data()};
  combiner.combine(arithmetic, sources, std::array{Target{bytes(own.data()), false}}, own.size());
  EXPECT_EQ(own, std::vector<float>(own.size(), 5.0F));
}

/// 16-bit elements, whose partial values are wider.
TEST(BlockCombiner, MakesPartialValuesOfTheirOwnSize) {
  const Arithmetic arithmetic(DataType::bfloat16, ReduceOp::sum, 2, 1.0, false);
  BlockCombiner combiner;
  const std::vector<bfloat16> first(5'003, bfloat16(256.0F));
  const std::vector<bfloat16> second(first.size(), bfloat16(1.0F));
  std::vector<float> made(first.size() + 1, kUntouched);
  const std::array<const void*, 2> sources{first.data(), second.data()};
  combiner.combine(arithmetic, sources, std::array{Target{bytes(made.data()), true}}, first.size(),
                   Value::partial);
  for (std::size_t i = 0; i < first.size(); ++i) ASSERT_EQ(made[i], 257.0F) << i;
  EXPECT_EQ(made.back(), kUntouched);
}

}  // namespace
}  // namespace rondo::collectives
