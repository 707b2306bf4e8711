#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "core/instruction_set_test.hpp"
#include "core/reduce.hpp"

/// The conversions of float16 and bfloat16 in the kernels against those in scalar code.
namespace rondo::core {
namespace {

class ReduceHalfTest : public InstructionSetTest {};
RONDO_FOR_EACH_INSTRUCTION_SET(ReduceHalfTest);

template <class Half>
std::vector<Half> all_patterns() {
  std::vector<Half> patterns;
  for (std::uint32_t bits = 0; bits < 0x1'0000; ++bits)
    patterns.push_back(Half::from_bits(static_cast<std::uint16_t>(bits)));
  return patterns;
}

template <class Half>
void expect_widened() {
  const std::vector<Half> halves = all_patterns<Half>();
  std::vector<float> floats(halves.size());
  load(data_type_of<Half>, 1.0, halves.data(), floats.data(), halves.size());
  for (std::size_t i = 0; i < halves.size(); ++i)
    ASSERT_EQ(std::bit_cast<std::uint32_t>(floats[i]),
              std::bit_cast<std::uint32_t>(float(halves[i])))
        << std::hex << i;
}

TEST_P(ReduceHalfTest, EveryPatternIsWidenedAsInScalarCode) {
  expect_widened<float16>();
  expect_widened<bfloat16>();
}

// Every value, every midpoint of two neighbours, what lies next to them, and random patterns.
template <class Half>
std::vector<float> hard_to_round() {
  std::vector<float> values;
  for (const Half half : all_patterns<Half>()) {
    const float value = float(half);
    const float next = float(Half::from_bits(static_cast<std::uint16_t>(half.bits + 1)));
    const float middle = value / 2 + next / 2;
    for (const float hard : {value, middle}) {
      values.push_back(hard);
      values.push_back(std::nextafter(hard, -INFINITY));
      values.push_back(std::nextafter(hard, INFINITY));
    }
  }
  std::mt19937 random(1);
  for (int i = 0; i < 300'000; ++i)
    values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
  return values;
}

template <class Half>
void expect_narrowed() {
  const std::vector<float> floats = hard_to_round<Half>();
  std::vector<Half> halves(floats.size());
  finish(data_type_of<Half>, 1.0, floats.data(), halves.data(), floats.size());
  for (std::size_t i = 0; i < floats.size(); ++i)
    ASSERT_EQ(halves[i].bits, Half(floats[i]).bits)
        << std::hex << std::bit_cast<std::uint32_t>(floats[i]);
}

TEST_P(ReduceHalfTest, HardFloatsAreNarrowedAsInScalarCode) {
  expect_narrowed<float16>();
  expect_narrowed<bfloat16>();
}

}  // namespace
}  // namespace rondo::core
