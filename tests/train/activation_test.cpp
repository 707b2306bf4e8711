#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <rondo/train/flatten.hpp>
#include <rondo/train/gelu.hpp>
#include <rondo/train/relu.hpp>
#include <rondo/train/sigmoid.hpp>
#include <rondo/train/tanh.hpp>

#include "train/gradient_check.hpp"

namespace rondo::train {
namespace {

using testing::check_gradients;
using testing::kIgnore;

template <class Activation>
double value_at(double x) {
  Activation layer(1);
  return layer.forward(std::span<const double>(&x, 1), 1)[0];
}

TEST(Activation, HasTheGradientsOfFiniteDifferences) {
  Relu<double> relu(5);
  check_gradients(relu);
  Tanh<double> tanh(5);
  check_gradients(tanh);
  Sigmoid<double> sigmoid(5);
  check_gradients(sigmoid);
  Gelu<double> gelu(5);
  check_gradients(gelu);
  Flatten<double> flatten(5);
  check_gradients(flatten);
}

TEST(Activation, HasTheValuesOfItsFormula) {
  EXPECT_EQ(value_at<Relu<double>>(-2), 0);
  EXPECT_EQ(value_at<Relu<double>>(3), 3);
  EXPECT_DOUBLE_EQ(value_at<Tanh<double>>(0.5), std::tanh(0.5));
  EXPECT_DOUBLE_EQ(value_at<Sigmoid<double>>(std::log(3)), 0.75);
  EXPECT_DOUBLE_EQ(value_at<Gelu<double>>(1), 0.84134474606854293);  // Φ(1)
}

TEST(Activation, KeepsItsHeadAtTheEndsOfTheRange) {
  for (const double x : {-1e4, 1e4}) {
    EXPECT_EQ(value_at<Sigmoid<double>>(x), x > 0 ? 1 : 0);
    EXPECT_EQ(value_at<Tanh<double>>(x), x > 0 ? 1 : -1);
    EXPECT_EQ(value_at<Gelu<double>>(x), x > 0 ? x : 0);
  }
  EXPECT_TRUE(std::isnan(value_at<Relu<double>>(std::numeric_limits<double>::quiet_NaN())));
}

TEST(Relu, LetsNoGradientThroughAtZero) {
  Relu<float> relu(2);
  const std::vector<float> x{0, 1};
  relu.forward(x, 1);
  const std::vector<float> gradient{std::numeric_limits<float>::infinity(), 7};
  const auto given = relu.backward(gradient, kIgnore, InputGradient::compute);
  EXPECT_EQ(given[0], 0);
  EXPECT_EQ(given[1], 7);
}

TEST(Flatten, CopiesNothing) {
  Flatten<float> flatten(4);
  const std::vector<float> x(8);
  EXPECT_EQ(flatten.forward(x, 2).data(), x.data());
  EXPECT_EQ(flatten.backward(x, kIgnore, InputGradient::compute).data(), x.data());
}

}  // namespace
}  // namespace rondo::train
