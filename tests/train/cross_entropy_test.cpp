#include <rondo/train/cross_entropy.hpp>

#include <cmath>

#include "support/expect_error.hpp"
#include "train/gradient_check.hpp"

namespace rondo::train {
namespace {

using rondo::testing::expect_error;
using testing::some_numbers;

TEST(CrossEntropy, HasTheGradientOfFiniteDifferences) {
  std::vector<double> logits = some_numbers(12);
  const std::vector<std::uint32_t> targets{3, 0, 2};
  std::vector<double> gradient(12);
  cross_entropy<double>(logits, targets, gradient);
  for (std::size_t i = 0; i < logits.size(); ++i)
    EXPECT_NEAR(gradient[i],
                testing::slope(logits[i], [&] { return cross_entropy<double>(logits, targets); }),
                1e-9);
}

TEST(CrossEntropy, AddsUpOverTheRows) {
  const std::vector<double> logits{std::log(1), std::log(3), std::log(2), std::log(2)};
  const std::vector<std::uint32_t> targets{1, 0};
  EXPECT_NEAR(cross_entropy<double>(logits, targets), -std::log(0.75) - std::log(0.5), 1e-15);
}

TEST(CrossEntropy, NeitherOverflowsNorVanishes) {
  const std::vector<float> logits{1e30F, 0, 1000, 1001};
  const std::vector<std::uint32_t> targets{0, 0};
  std::vector<float> gradient(4);
  EXPECT_NEAR(cross_entropy<float>(logits, targets, gradient), std::log1p(std::exp(1)), 1e-6);
  EXPECT_EQ(gradient[0], 0);
  EXPECT_EQ(gradient[1], 0);
  EXPECT_NEAR(gradient[3], 1 / (1 + std::exp(-1)), 1e-6);
  EXPECT_NEAR(cross_entropy<float>(logits, std::vector<std::uint32_t>{1, 0}), 1e30, 1e24);
}

TEST(CrossEntropy, OfNoSamplesIsZero) { EXPECT_EQ(cross_entropy<float>({}, {}), 0.0); }

TEST(CrossEntropy, RefusesTargetsThatAreNoClass) {
  const std::vector<float> logits(6);
  expect_error(ErrorCode::usage, {"row 1", "class 3", "3 classes"}, [&] {
    cross_entropy<float>(logits, std::vector<std::uint32_t>{2, 3});
  });
}

TEST(CrossEntropy, RefusesSizesThatDoNotMatch) {
  const std::vector<float> logits(6);
  std::vector<float> gradient(5);
  const std::vector<std::uint32_t> two{0, 0};
  EXPECT_THROW(cross_entropy<float>(logits, std::vector<std::uint32_t>(4)), Error);
  EXPECT_THROW(cross_entropy<float>(logits, {}), Error);
  EXPECT_THROW(cross_entropy<float>({}, two), Error);
  EXPECT_THROW(cross_entropy<float>(logits, two, gradient), Error);
}

}  // namespace
}  // namespace rondo::train
