#include <rondo/train/linear.hpp>

#include <algorithm>
#include <cmath>

#include <rondo/error.hpp>
#include <rondo/train/loss.hpp>

#include "train/golden.hpp"
#include "train/gradient_check.hpp"

namespace rondo::train {
namespace {

using testing::kIgnore;
using testing::some_numbers;

template <class T>
class LinearOf : public ::testing::Test {};
using ElementTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(LinearOf, ElementTypes);

TYPED_TEST(LinearOf, AgreesWithPyTorchForwardAndBackward) {
  using T = TypeParam;
  for (const nlohmann::json& one : testing::golden("linear.json")) {
    if (one["dtype"] != name_of(data_type_of<T>)) continue;
    const std::size_t rows = one["rows"];
    Linear<T> layer("fc", one["inputs"], one["outputs"]);
    std::ranges::copy(one["weight"].get<std::vector<T>>(), layer.weight().value().data());
    std::ranges::copy(one["bias"].get<std::vector<T>>(), layer.bias().value().data());
    const auto x = one["x"].get<std::vector<T>>();
    const auto target = one["target"].get<std::vector<T>>();

    const std::span<const T> y = layer.forward(x, rows);
    testing::expect_near<T>(y, one["y"], "y");
    std::vector<T> gradient(y.size());
    const double loss = squared_error<T>(y, target, gradient);
    EXPECT_NEAR(loss, one["loss"], testing::kTolerance<T> * loss);
    const auto x_gradient = layer.backward(gradient, kIgnore, InputGradient::compute);
    testing::expect_near<T>(layer.weight().gradient(), one["weight_gradient"], "weight gradient");
    testing::expect_near<T>(layer.bias().gradient(), one["bias_gradient"], "bias gradient");
    testing::expect_near<T>(x_gradient, one["x_gradient"], "x gradient");
  }
}

TEST(Linear, HasTheGradientsOfFiniteDifferences) {
  for (const std::size_t outputs : {1, 3}) {
    Linear<double> layer("fc", 4, outputs);
    layer.initialise(1);
    testing::check_gradients(layer);
  }
  Linear<double> narrow("fc", 1, 2);
  narrow.initialise(2);
  testing::check_gradients(narrow);
}

TEST(SquaredError, HasTheGradientOfFiniteDifferences) {
  std::vector<double> prediction = some_numbers(6, 0.1);
  const std::vector<double> target = some_numbers(6, 2.0);
  std::vector<double> gradient(6);
  squared_error<double>(prediction, target, gradient);
  for (std::size_t i = 0; i < 6; ++i)
    EXPECT_NEAR(
        gradient[i],
        testing::slope(prediction[i], [&] { return squared_error<double>(prediction, target); }),
        1e-9);
}

TEST(Linear, NamesItsParameters) {
  Linear<float> layer("fc", 2, 2);
  EXPECT_EQ(layer.parameters()[0]->name(), "fc.weight");
  EXPECT_EQ(layer.parameters()[1]->name(), "fc.bias");
}

TEST(Linear, TakesSmallerBatchesAfterLargerOnes) {
  Linear<double> layer("fc", 2, 3);
  layer.initialise(3);
  const std::vector<double> x = some_numbers(20, 0.5);
  const std::span<const double> large = layer.forward(x, 10);
  const std::vector<double> first_row(large.begin(), large.begin() + 3);
  const std::span<const double> small = layer.forward(std::span(x).first(2), 1);
  testing::expect_near<double>(small, first_row, "first row");
}

TEST(Linear, InitialisesWithinPyTorchsBoundsAndRepeatably) {
  Linear<double> layer("fc", 100, 50);
  layer.initialise(7);
  const auto [low, high] = std::ranges::minmax(layer.weight().value().span());
  EXPECT_GE(low, -0.1);
  EXPECT_LT(low, -0.099);
  EXPECT_LE(high, 0.1);
  EXPECT_GT(high, 0.099);
  Linear<double> again("fc", 100, 50);
  again.initialise(7);
  EXPECT_TRUE(std::ranges::equal(again.weight().value().span(), layer.weight().value().span()));
  again.initialise(8);
  EXPECT_FALSE(std::ranges::equal(again.weight().value().span(), layer.weight().value().span()));
}

TEST(Linear, RefusesWrongSizes) {
  EXPECT_THROW(Linear<float>("fc", 0, 1), Error);
  EXPECT_THROW(Linear<float>("fc", 1, 0), Error);
  Linear<float> layer("fc", 2, 1);
  const std::vector<float> x(6);
  EXPECT_THROW(layer.forward(x, 2), Error);
  layer.forward(x, 3);
  EXPECT_THROW(layer.backward(std::vector<float>(2), kIgnore), Error);
}

TEST(SquaredError, RefusesUnequalSizes) {
  const std::vector<float> three(3);
  std::vector<float> two(2);
  EXPECT_THROW(squared_error<float>(three, two), Error);
  EXPECT_THROW(squared_error<float>(three, three, two), Error);
  EXPECT_EQ(squared_error<float>({}, {}), 0.0);
}

TEST(SquaredError, AddsUpInDoubleEvenForFloats) {
  const std::vector<float> prediction(20'000'000, 1.0F);  // a float's sum would stop at 2^24
  const std::vector<float> target(prediction.size(), 0.0F);
  EXPECT_EQ(squared_error<float>(prediction, target), 20'000'000.0);
}

}  // namespace
}  // namespace rondo::train
