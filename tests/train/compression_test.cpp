#include <rondo/train/compression.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "train/orthonormalise.hpp"
#include "train/select_largest.hpp"

namespace rondo::train {
namespace {

using rondo::testing::expect_error;

TEST(CompressionText, IsReadAsItIsWritten) {
  for (const char* text : {"none", "bf16", "f16", "topk:0.25", "powersgd:4"})
    EXPECT_EQ(to_string(parse_compression(text)), text);
  EXPECT_EQ(to_string(parse_compression("topk")), "topk:0.01");
  EXPECT_EQ(to_string(parse_compression("powersgd")), "powersgd:2");
}

TEST(CompressionText, IsRefusedWhenUnknownOrOutOfRange) {
  for (const char* text : {"", "zip", "topk:", "topk:0", "topk:1.5", "topk:nan", "topk:0.1x",
                           "powersgd:0", "powersgd:-1", "bf16:2", "none:"})
    expect_error(ErrorCode::usage, {std::string("'") + text + "'"},
                 [&] { parse_compression(text); });
}

template <class T>
void expect_selects_largest() {
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  std::vector<T> elements;
  for (int i = 0; i < 5000; ++i)
    elements.push_back(static_cast<T>(std::sin(double(i)) * std::pow(10.0, i % 13 - 6)));
  elements[77] = std::numeric_limits<T>::quiet_NaN();
  elements[4321] = -kInfinity;
  std::fill_n(elements.begin() + 100, 50, T(0.5));  // equal ones
  const auto key = [&](std::size_t i) {
    return std::isnan(elements[i]) ? std::pair(T{1}, kInfinity)
                                   : std::pair(T{0}, std::abs(elements[i]));
  };
  std::vector<std::uint32_t> sorted(elements.size());
  std::iota(sorted.begin(), sorted.end(), 0U);
  std::ranges::stable_sort(sorted, [&](auto a, auto b) { return key(a) > key(b); });
  for (const std::size_t count : {0, 1, 2, 3, 500, 1000, 2500, 4999, 5000}) {
    std::vector<std::uint32_t> expected(sorted.begin(),
                                        sorted.begin() + static_cast<std::ptrdiff_t>(count));
    std::ranges::sort(expected);
    std::vector<std::uint32_t> places(count);
    select_largest<T>(elements, count, places);
    EXPECT_EQ(places, expected) << count;
  }
}

TEST(SelectLargest, FindsTheFirstOfTheLargestMagnitudes) {
  expect_selects_largest<float>();
  expect_selects_largest<double>();
}

template <class T>
double product(std::span<const T> a, std::span<const T> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// Four rows of seven, the third of which depends on the first two.
template <class T>
std::vector<T> some_rows() {
  std::vector<T> rows(28);
  for (std::size_t i = 0; i < 28; ++i) rows[i] = static_cast<T>(1e-20 * std::sin(double(i * i)));
  for (std::size_t e = 0; e < 7; ++e) rows[14 + e] = rows[e] - T{3} * rows[7 + e];
  return rows;
}

template <class T>
void expect_orthonormal(Replace dependent) {
  std::vector<T> rows = some_rows<T>();
  orthonormalise<T>(rows, 4, dependent, 5);
  const double tolerance = 100.0 * double{std::numeric_limits<T>::epsilon()};
  for (std::size_t a = 0; a < 4; ++a)
    for (std::size_t b = 0; b <= a; ++b) {
      const bool zero = a != b || (a == 2 && dependent == Replace::by_zeros);
      EXPECT_NEAR(product<T>(std::span(rows).subspan(7 * a, 7), std::span(rows).subspan(7 * b, 7)),
                  zero ? 0.0 : 1.0, tolerance);
    }
  const std::vector<T> before = some_rows<T>();
  for (std::size_t e = 0; e < 7; ++e)  // the first only changes its length
    EXPECT_NEAR(rows[e] * before[0], rows[0] * before[e], 1e-6 * std::abs(double(before[0])));
}

TEST(Orthonormalise, MakesRowsOrthonormalAndReplacesDependentOnes) {
  expect_orthonormal<float>(Replace::by_zeros);
  expect_orthonormal<float>(Replace::by_random);
  expect_orthonormal<double>(Replace::by_zeros);
  expect_orthonormal<double>(Replace::by_random);
}

TEST(Orthonormalise, SpreadsNaNs) {
  std::vector<float> rows{1.0F, 2.0F, std::nanf(""), 1.0F};
  orthonormalise<float>(rows, 2, Replace::by_zeros);
  EXPECT_TRUE(std::isnan(rows[2]) && std::isnan(rows[3]));
}

TEST(DealOutResidual, KeepsTheSum) {
  const std::vector<std::vector<float>> saved{{1, 2, 3, 4, 5}, {10, 20, 30, 40, 50}};
  const std::vector<ConstBuffer> buffers{std::span(saved[0]), std::span(saved[1])};
  for (const int ranks : {1, 2, 3, 7}) {
    std::vector<float> sum(5, 0.0F);
    for (Rank rank = 0; rank < ranks; ++rank) {
      std::vector<float> residual(5, -1.0F);
      deal_out_residual(buffers, rank, ranks, std::span(residual));
      for (std::size_t i = 0; i < 5; ++i) sum[i] += residual[i];
    }
    EXPECT_EQ(sum, (std::vector<float>{11, 22, 33, 44, 55}));
  }
  std::vector<float> shorter(4);
  expect_error(ErrorCode::usage, {"5 elements"},
               [&] { deal_out_residual(buffers, 0, 1, std::span(shorter)); });
}

}  // namespace
}  // namespace rondo::train
