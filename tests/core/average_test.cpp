#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "core/instruction_set_test.hpp"
#include "core/reduce.hpp"
#include "support/reduce_reference.hpp"

namespace rondo::core {
namespace {

using reference::Accumulator;
using reference::for_each_type_and_op;
using reference::is_half;
using reference::same;

class AverageTest : public InstructionSetTest {};
RONDO_FOR_EACH_INSTRUCTION_SET(AverageTest);

template <class T>
T largest() {
  if constexpr (std::is_same_v<T, float16>)
    return float16::from_bits(0x7bff);
  else if constexpr (std::is_same_v<T, bfloat16>)
    return bfloat16::from_bits(0x7f7f);
  else
    return std::numeric_limits<T>::max();
}

// The average of `ranks` times `value`, of which each is also multiplied by `factor`.
template <class T>
T average(T value, std::size_t ranks, double factor = 1.0) {
  const AverageScaling scaling = average_scaling(static_cast<int>(ranks));
  const std::vector<const void*> sources(ranks, &value);
  T out{};
  reduce_many({data_type_of<T>, ReduceOp::avg, scaling.scale * factor, scaling.divisor}, sources,
              &out, 1);
  return out;
}

// Up to the rounding of the sum, which must not become an overflow.
TEST_P(AverageTest, AverageOfTheLargestValueIsThatValue) {
  for_each_type_and_op([]<class T>(ReduceOp) {
    if constexpr (!std::is_integral_v<T>) {
      using A = Accumulator<T>;
      const auto most = static_cast<A>(largest<T>());
      for (std::size_t ranks = 1; ranks <= 70; ++ranks) {
        const A tolerance = is_half<T> ? 0 : most * std::numeric_limits<A>::epsilon() * A(ranks);
        EXPECT_NEAR(static_cast<A>(average(largest<T>(), ranks)), most, tolerance)
            << name_of(data_type_of<T>) << " on " << ranks;
        EXPECT_NEAR(static_cast<A>(average(static_cast<T>(-most), ranks)), -most, tolerance)
            << name_of(data_type_of<T>) << " on " << ranks;
      }
    }
  });
}

// Reduces `values` with each other in a random order, as any algorithm might, to their sum.
template <class T>
T sum_in_random_order(std::vector<T> values, std::mt19937& random) {
  while (values.size() > 1) {
    std::swap(values[random() % values.size()], values.back());
    const T right = values.back();
    values.pop_back();
    T& left = values[random() % values.size()];
    reduce(data_type_of<T>, ReduceOp::sum, &left, &right, &left, 1);
  }
  return values[0];
}

TEST_P(AverageTest, AverageOfTheLargestValueIsFiniteInAnyOrderOfSummation) {
  std::mt19937 random(1);
  for_each_type_and_op([&]<class T>(ReduceOp op) {
    if constexpr (std::is_floating_point_v<T>) {
      if (op != ReduceOp::avg) return;
      for (int ranks = 2; ranks <= 130; ++ranks) {
        const AverageScaling scaling = average_scaling(ranks);
        const std::vector<T> values(ranks, static_cast<T>(largest<T>() * scaling.scale));
        const T sum = sum_in_random_order(values, random);
        T result;
        finish(data_type_of<T>, scaling.divisor, &sum, &result, 1);
        EXPECT_TRUE(std::isfinite(result)) << name_of(data_type_of<T>) << " on " << ranks;
      }
    }
  });
}

TEST_P(AverageTest, RealOverflowOfAnAverageIsInfinite) {
  for (const std::size_t ranks : {3, 5, 7, 64}) {
    EXPECT_EQ(average(largest<float>(), ranks, 1.5), std::numeric_limits<float>::infinity());
    EXPECT_EQ(average(-largest<double>(), ranks, 1.5), -std::numeric_limits<double>::infinity());
    EXPECT_EQ(average(largest<float16>(), ranks, 1.5).bits, 0x7c00);
    EXPECT_EQ(average(std::numeric_limits<float>::infinity(), ranks),
              std::numeric_limits<float>::infinity());
  }
}

TEST_P(AverageTest, Float16AverageBeyondItsSumIsExact) {
  EXPECT_EQ(float(average(float16(40'000.0f), 2)), 40'000.0f);
  EXPECT_EQ(float(average(float16(-60'000.0f), 3)), -60'000.0f);
}

TEST(AverageScaling, SplitsOneByRanksIntoAPowerOfTwoAndARest) {
  for (int ranks = 1; ranks <= 5'000; ++ranks) {
    const AverageScaling scaling = average_scaling(ranks);
    EXPECT_EQ(scaling.scale * ranks, scaling.divisor) << ranks;
    EXPECT_EQ(std::exp2(std::round(std::log2(scaling.scale))), scaling.scale) << ranks;
    EXPECT_TRUE(scaling.divisor > 0.5 && scaling.divisor <= 1.0) << ranks;
  }
}

}  // namespace
}  // namespace rondo::core
