#include "train/block_norm.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "train/all_finite.hpp"

namespace rondo::train {
namespace {

std::vector<float> some_elements(std::size_t count) {
  std::vector<float> elements;
  for (std::size_t i = 0; i < count; ++i)
    elements.push_back(static_cast<float>(std::sin(1.7 * double(i)) * double(1 + i % 97)));
  return elements;
}

std::vector<double> squares_of(std::span<const float> elements) {
  std::vector<double> sums(norm_blocks(elements.size()));
  block_squares(elements, sums.data());
  return sums;
}

TEST(BlockNorm, IsTheRootOfTheSumOfSquares) {
  for (const std::size_t count : {0, 1, 7, 1023, 1024, 1025, 20'000}) {
    const std::vector<float> elements = some_elements(count);
    double sum = 0.0;
    for (const float element : elements) sum += double(element) * double(element);
    EXPECT_NEAR(norm_of(squares_of(elements)), std::sqrt(sum), 1e-13 * std::sqrt(sum)) << count;
  }
}

TEST(BlockNorm, HasTheSameBitsWhenCutWhereABlockBegins) {
  const std::vector<float> elements = some_elements(3 * kNormBlock + 123);
  auto first = squares_of(std::span(elements).first(2 * kNormBlock));
  const auto second = squares_of(std::span(elements).subspan(2 * kNormBlock));
  first.insert(first.end(), second.begin(), second.end());
  EXPECT_EQ(first, squares_of(elements));
}

template <class T>
void expect_exact_norm_and_multiplication() {
  std::vector<T> elements{T(3.0F), T(-4.0F), T(0.0F), T(12.0F)};
  double square = 0.0;
  block_squares(std::span<const T>(elements), &square);
  EXPECT_EQ(norm_of(std::span(&square, 1)), 13.0);
  multiply_by(Compute::host(), std::span(elements), 0.5);
  EXPECT_EQ(static_cast<double>(static_cast<float>(elements[1])), -2.0);
  EXPECT_EQ(static_cast<double>(static_cast<float>(elements[3])), 6.0);
}

TEST(BlockNorm, ServesEveryFloatingType) {
  expect_exact_norm_and_multiplication<float16>();
  expect_exact_norm_and_multiplication<bfloat16>();
  expect_exact_norm_and_multiplication<float>();
  expect_exact_norm_and_multiplication<double>();
}

TEST(BlockNorm, ClipsAsPyTorchDoes) {
  EXPECT_EQ(clip_factor(10.0, 2.0), 2.0 / (10.0 + 1e-6));
  EXPECT_EQ(clip_factor(1.0, 2.0), 1.0);
  EXPECT_LT(clip_factor(2.0, 2.0), 1.0);
  EXPECT_EQ(clip_factor(std::numeric_limits<double>::infinity(), 2.0), 0.0);
  EXPECT_TRUE(std::isnan(clip_factor(std::numeric_limits<double>::quiet_NaN(), 2.0)));
}

template <class T>
void expect_found_wherever_it_is() {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const std::size_t count : {1, 5, 64, 4096, 9001}) {
    std::vector<T> elements(count, T(-65504.0F));
    EXPECT_TRUE(all_finite(std::span<const T>(elements)));
    for (const float bad : {infinity, -infinity, std::nanf("")})
      for (const std::size_t at : {std::size_t{0}, count / 2, count - 1}) {
        elements[at] = T(bad);
        EXPECT_FALSE(all_finite(std::span<const T>(elements))) << bad << " at " << at;
        elements[at] = T(0.0F);
      }
  }
  EXPECT_TRUE(all_finite(ConstBuffer(nullptr, 0, data_type_of<T>)));
}

TEST(AllFinite, FindsInfinityAndNaNAnywhere) {
  expect_found_wherever_it_is<float16>();
  expect_found_wherever_it_is<bfloat16>();
  expect_found_wherever_it_is<float>();
  expect_found_wherever_it_is<double>();
}

TEST(AllFinite, TakesTheLargestNumbersForFinite) {
  const float largest = std::numeric_limits<float>::max();
  EXPECT_TRUE(all_finite(ConstBuffer(&largest, 1, DataType::float32)));
  const double lowest = std::numeric_limits<double>::lowest();
  EXPECT_TRUE(all_finite(ConstBuffer(&lowest, 1, DataType::float64)));
}

}  // namespace
}  // namespace rondo::train
