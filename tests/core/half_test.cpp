#include <rondo/half.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace rondo {
namespace {

constexpr std::uint32_t kPatterns = 0x1'0000;

// The value of a 16-bit pattern by the definition of the format, in double.
double value_of(std::uint16_t bits, int exponent_bits) {
  const int fraction_bits = 15 - exponent_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = (bits & 0x7fff) >> fraction_bits;
  const int fraction = bits & ((1 << fraction_bits) - 1);
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == (1 << exponent_bits) - 1)
    return fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : sign * std::numeric_limits<double>::infinity();
  const int implicit = exponent == 0 ? 0 : 1 << fraction_bits;
  return sign * std::ldexp(implicit + fraction, std::max(exponent, 1) - bias - fraction_bits);
}

template <class Half>
struct Format;
template <>
struct Format<float16> {
  static constexpr int exponent_bits = 5;
  static constexpr std::uint16_t infinity = 0x7c00;
  static constexpr std::uint16_t quiet = 0x0200;
};
template <>
struct Format<bfloat16> {
  static constexpr int exponent_bits = 8;
  static constexpr std::uint16_t infinity = 0x7f80;
  static constexpr std::uint16_t quiet = 0x0040;
};

template <class Half>
class HalfTest : public testing::Test {
 protected:
  static constexpr std::uint16_t infinity = Format<Half>::infinity;
  static double value(std::uint32_t bits) {
    return value_of(static_cast<std::uint16_t>(bits), Format<Half>::exponent_bits);
  }
  static std::uint16_t rounded(float value) { return Half(value).bits; }
};
using Halves = testing::Types<float16, bfloat16>;
TYPED_TEST_SUITE(HalfTest, Halves);

TYPED_TEST(HalfTest, WidensEveryPatternExactly) {
  for (std::uint32_t bits = 0; bits < kPatterns; ++bits) {
    const auto half = TypeParam::from_bits(static_cast<std::uint16_t>(bits));
    const double expected = this->value(bits);
    const float actual = float(half);
    if (std::isnan(expected))
      ASSERT_TRUE(std::isnan(actual)) << std::hex << bits;
    else
      ASSERT_EQ(std::bit_cast<std::uint64_t>(expected),
                std::bit_cast<std::uint64_t>(double{actual}))
          << std::hex << bits;
  }
}

TYPED_TEST(HalfTest, NarrowsEveryPatternBackToItself) {
  for (std::uint32_t bits = 0; bits < kPatterns; ++bits) {
    const auto half = TypeParam::from_bits(static_cast<std::uint16_t>(bits));
    const bool nan = (bits & 0x7fff) > this->infinity;
    const std::uint32_t expected = nan ? bits | Format<TypeParam>::quiet : bits;
    ASSERT_EQ(TypeParam(float(half)).bits, expected) << std::hex << bits;
  }
}

// Between each two neighbours: the midpoint goes to the even one, its float neighbours to the
// nearer one.
TYPED_TEST(HalfTest, RoundsToNearestAndTiesToEven) {
  for (std::uint32_t low = 0; low + 1 <= this->infinity; ++low) {
    const std::uint32_t high = low + 1;
    // Beyond the largest finite value lies the midpoint to what would be the next one.
    const double high_value =
        high == this->infinity ? 2 * this->value(low) - this->value(low - 1) : this->value(high);
    const auto middle = static_cast<float>((this->value(low) + high_value) / 2);
    ASSERT_EQ(this->rounded(middle), low % 2 == 0 ? low : high) << std::hex << low;
    ASSERT_EQ(this->rounded(std::nextafter(middle, 0.0f)), low) << std::hex << low;
    ASSERT_EQ(this->rounded(std::nextafter(middle, INFINITY)), high) << std::hex << low;
    ASSERT_EQ(this->rounded(-middle), this->rounded(middle) | 0x8000) << std::hex << low;
  }
}

TYPED_TEST(HalfTest, OverflowsToInfinity) {
  EXPECT_EQ(this->rounded(std::numeric_limits<float>::max()), this->infinity);
  EXPECT_EQ(this->rounded(-std::numeric_limits<float>::max()), this->infinity | 0x8000);
  EXPECT_EQ(this->rounded(std::numeric_limits<float>::infinity()), this->infinity);
}

TYPED_TEST(HalfTest, UnderflowsToZeroOfTheSameSign) {
  const float tiny = std::numeric_limits<float>::denorm_min();
  EXPECT_EQ(this->rounded(tiny), 0);
  EXPECT_EQ(this->rounded(-tiny), 0x8000);
}

TYPED_TEST(HalfTest, KeepsEveryNanANan) {
  // Payloads whose low or high bits alone are set: cutting off or rounding must not lose them.
  for (const std::uint32_t payload : {0x1u, 0xffffu, 0x1'0000u, 0x40'0000u, 0x7f'ffffu}) {
    for (const std::uint32_t sign : {0u, 0x8000'0000u}) {
      const auto nan = std::bit_cast<float>(sign | 0x7f80'0000 | payload);
      const std::uint16_t bits = this->rounded(nan);
      EXPECT_GT(bits & 0x7fff, this->infinity) << std::hex << payload;
      EXPECT_TRUE(bits & Format<TypeParam>::quiet) << std::hex << payload;
      EXPECT_EQ(bits >> 15, sign >> 31) << std::hex << payload;
    }
  }
}

}  // namespace
}  // namespace rondo
