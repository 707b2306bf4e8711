#include <rondo/train/linear.hpp>

#include <algorithm>
#include <cmath>

#include <rondo/error.hpp>
#include <rondo/train/loss.hpp>

#include "train/golden.hpp"

namespace rondo::train {
namespace {

const GradientReady kIgnore = [](std::size_t) {};

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
    layer.backward(gradient, kIgnore);
    testing::expect_near<T>(layer.weight().gradient(), one["weight_gradient"], "weight gradient");
    testing::expect_near<T>(layer.bias().gradient(), one["bias_gradient"], "bias gradient");
    testing::expect_near<T>(layer.input_gradient(gradient), one["x_gradient"], "x gradient");
  }
}

/// Some numbers in [-1, 1], always the same.
std::vector<double> some_numbers(std::size_t count, double phase) {
  std::vector<double> numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = std::sin(phase + 1.7 * double(i));
  return numbers;
}

/// d(loss)/d(variable) by central differences.
double slope(double& variable, const std::function<double()>& loss) {
  constexpr double kStep = 1e-5;
  const double middle = variable;
  variable = middle + kStep;
  const double above = loss();
  variable = middle - kStep;
  const double below = loss();
  variable = middle;
  return (above - below) / (2.0 * kStep);
}

TEST(Linear, GradientsAreThoseOfFiniteDifferences) {
  constexpr std::size_t kRows = 6;
  Linear<double> layer("fc", 4, 3);
  layer.initialise(1);
  std::vector<double> x = some_numbers(kRows * 4, 0.1);
  const std::vector<double> target = some_numbers(kRows * 3, 2.0);
  const auto loss = [&] { return squared_error<double>(layer.forward(x, kRows), target); };

  std::vector<double> gradient(kRows * 3);
  squared_error<double>(layer.forward(x, kRows), target, gradient);
  layer.backward(gradient, kIgnore);
  for (Parameter<double>* parameter : layer.parameters())
    for (std::size_t i = 0; i < parameter->size(); ++i)
      EXPECT_NEAR(parameter->gradient()[i], slope(parameter->value()[i], loss), 1e-7)
          << parameter->name() << " " << i;
  const std::span<const double> x_gradient = layer.input_gradient(gradient);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x_gradient[i], slope(x[i], loss), 1e-7);
}

TEST(Linear, ReportsGradientsLastParameterFirst) {
  Linear<float> layer("fc", 2, 2);
  const std::vector<float> x(6);
  layer.forward(x, 3);
  std::vector<std::size_t> order;
  layer.backward(std::vector<float>(6), [&](std::size_t i) { order.push_back(i); });
  EXPECT_EQ(order, (std::vector<std::size_t>{1, 0}));
  EXPECT_EQ(layer.parameters()[0]->name(), "fc.weight");
  EXPECT_EQ(layer.parameters()[1]->name(), "fc.bias");
}

TEST(Linear, WritesGradientsAndDoesNotAdd) {
  Linear<double> layer("fc", 3, 2);
  const std::vector<double> x = some_numbers(6, 0.3);
  const std::vector<double> gradient = some_numbers(4, 0.4);
  layer.forward(x, 2);
  layer.backward(gradient, kIgnore);
  const std::vector<double> once(layer.weight().gradient().begin(),
                                 layer.weight().gradient().end());
  layer.backward(gradient, kIgnore);
  EXPECT_TRUE(std::ranges::equal(layer.weight().gradient(), once));
}

TEST(Linear, NoRowsGiveZeroGradients) {
  for (const std::size_t outputs : {1, 3}) {
    Linear<float> layer("fc", 2, outputs);
    std::ranges::fill(layer.weight().gradient(), 9.0F);
    std::ranges::fill(layer.bias().gradient(), 9.0F);
    EXPECT_TRUE(layer.forward({}, 0).empty());
    int calls = 0;
    layer.backward({}, [&](std::size_t) { ++calls; });
    EXPECT_EQ(calls, 2);
    EXPECT_TRUE(layer.input_gradient({}).empty());
    for (Parameter<float>* parameter : layer.parameters())
      for (const float element : parameter->gradient()) EXPECT_EQ(element, 0.0F);
  }
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
