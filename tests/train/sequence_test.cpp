// Layers over sequences.
#include <cmath>

#include <rondo/train/attention.hpp>
#include <rondo/train/lstm.hpp>

#include "support/expect_error.hpp"
#include "train/gradient_check.hpp"

namespace rondo::train {
namespace {

using rondo::testing::expect_error;
using testing::check_gradients;
using testing::kIgnore;
using testing::some_numbers;

struct Shape {
  std::size_t positions;
  std::size_t features;
  std::size_t hidden;
};

TEST(Lstm, HasTheGradientsOfFiniteDifferences) {
  for (const auto& [positions, features, hidden] :
       {Shape{4, 3, 2}, Shape{1, 2, 3}, Shape{3, 1, 1}, Shape{2, 2, 19}}) {
    Lstm<double> layer("lstm", positions, features, hidden);
    layer.initialise(1);
    check_gradients(layer);
  }
}

TEST(Lstm, IsItsFormulaAtEachPosition) {
  Lstm<double> layer("lstm", 3, 1, 1);
  const std::vector<double> weights[] = {
      {0.1, 0.2, 0.3, 0.4}, {0.5, -0.6, 0.7, -0.8}, {0.01, 0.02, 0.03, 0.04}, {1, 2, -3, 4}};
  for (std::size_t p = 0; p < 4; ++p)
    std::ranges::copy(weights[p], layer.parameters()[p]->value().data());
  const std::vector<double> x{1, -2, 0.5};
  const auto y = layer.forward(x, 1);
  double h = 0;
  double c = 0;
  for (std::size_t t = 0; t < 3; ++t) {
    double z[4];
    for (std::size_t gate = 0; gate < 4; ++gate)
      z[gate] =
          weights[0][gate] * x[t] + weights[1][gate] * h + weights[2][gate] + weights[3][gate];
    const auto sigmoid = [](double value) { return 1 / (1 + std::exp(-value)); };
    c = sigmoid(z[1]) * c + sigmoid(z[0]) * std::tanh(z[2]);
    h = sigmoid(z[3]) * std::tanh(c);
    EXPECT_NEAR(y[t], h, 1e-15) << t;
  }
}

TEST(CausalSelfAttention, HasTheGradientsOfFiniteDifferences) {
  for (const auto& [positions, width, heads] :
       {Shape{4, 6, 2}, Shape{1, 4, 4}, Shape{3, 2, 1}, Shape{2, 3, 3}}) {
    CausalSelfAttention<double> layer("attention", positions, width, heads);
    layer.initialise(1);
    for (Parameter<double>* parameter : layer.parameters())
      for (std::size_t i = 0; i < parameter->size(); ++i)
        parameter->value()[i] += 0.3 * std::sin(static_cast<double>(i));  // biases too
    check_gradients(layer);
  }
}

TEST(CausalSelfAttention, SeesNothingOfWhatFollows) {
  CausalSelfAttention<double> layer("attention", 4, 6, 3);
  layer.initialise(1);
  std::vector<double> x = some_numbers(24);
  const auto y = layer.forward(x, 1);
  const std::vector<double> before(y.begin(), y.end());
  for (std::size_t i = 12; i < 18; ++i) x[i] += 1;  // position 2
  const auto after = layer.forward(x, 1);
  EXPECT_TRUE(std::ranges::equal(after.first(12), std::span(before).first(12)));
  EXPECT_NE(after[12], before[12]);
  EXPECT_NE(after[18], before[18]);
}

TEST(CausalSelfAttention, TakesTheMeanOfEqualScores) {
  CausalSelfAttention<double> layer("attention", 3, 2, 1);  // q = k = 0, so all scores are equal
  Tensor<double>& in = layer.parameters()[0]->value();
  in[4 * 2 + 0] = in[5 * 2 + 1] = 1;  // v = x
  Tensor<double>& out = layer.parameters()[2]->value();
  out[0] = out[3] = 1;  // y = mixed
  const std::vector<double> x{1, 2, 3, 4, 8, 9};
  const auto y = layer.forward(x, 1);
  const std::vector<double> means{1, 2, 2, 3, 4, 5};
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(y[i], means[i], 1e-15);
}

TEST(CausalSelfAttention, RefusesHeadsOfUnequalSize) {
  expect_error(ErrorCode::usage, {"'attention'", "6 features", "4 heads"},
               [] { CausalSelfAttention<float>("attention", 2, 6, 4); });
  EXPECT_THROW(CausalSelfAttention<float>("attention", 2, 6, 0), Error);
}

}  // namespace
}  // namespace rondo::train
