#include "core/functions.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace rondo::core {
namespace {

template <class T>
class Functions : public ::testing::Test {
 protected:
  static std::vector<T> sigmoids(std::vector<T> x) {
    sigmoid(x.data(), x.data(), x.size());
    return x;
  }
  static std::vector<T> tanhs(const std::vector<T>& x) {
    std::vector<T> y(x.size());
    core::tanh(x.data(), y.data(), x.size());
    return y;
  }
};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Functions, Types);

TYPED_TEST(Functions, HaveTheirValues) {
  constexpr TypeParam kMost = std::numeric_limits<TypeParam>::max();
  constexpr TypeParam kInfinity = std::numeric_limits<TypeParam>::infinity();
  std::vector<TypeParam> x{0, 1e-20, -1e-20, 1000, -1000, kMost, -kMost, kInfinity, -kInfinity};
  for (int i = -4000; i <= 4000; ++i) x.push_back(static_cast<TypeParam>(i) / 200);
  const auto sigmoid = this->sigmoids(x);
  const auto tanh = this->tanhs(x);
  constexpr double kTolerance = 8 * double{std::numeric_limits<TypeParam>::epsilon()};
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double expected = 1 / (1 + std::exp(-double{x[i]}));
    EXPECT_NEAR(sigmoid[i], expected, kTolerance * expected + 1e-38) << x[i];
    EXPECT_NEAR(tanh[i], std::tanh(double{x[i]}), kTolerance * std::abs(std::tanh(double{x[i]})))
        << x[i];
  }
}

TYPED_TEST(Functions, KeepNaN) {
  const std::vector<TypeParam> x(35, std::numeric_limits<TypeParam>::quiet_NaN());
  for (const TypeParam y : this->sigmoids(x)) EXPECT_TRUE(std::isnan(y));
  for (const TypeParam y : this->tanhs(x)) EXPECT_TRUE(std::isnan(y));
}

TYPED_TEST(Functions, HaveTheSameBitsWhereverElementsLie) {
  std::vector<TypeParam> x;
  for (int i = 0; i < 67; ++i) x.push_back(std::sin(TypeParam(i)) * 3);
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_EQ(this->sigmoids({x[i]})[0], this->sigmoids(x)[i]) << i;
    EXPECT_EQ(this->tanhs({x[i]})[0], this->tanhs(x)[i]) << i;
  }
}

}  // namespace
}  // namespace rondo::core
