#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include <rondo/train/layer.hpp>

namespace rondo::train::testing {

inline const GradientReady kIgnore = [](std::size_t) {};

/// Some numbers in [-1, 1], always the same.
template <class T = double>
std::vector<T> some_numbers(std::size_t count, double phase = 0.1) {
  std::vector<T> numbers(count);
  for (std::size_t i = 0; i < count; ++i)
    numbers[i] = static_cast<T>(std::sin(phase + 1.7 * static_cast<double>(i)));
  return numbers;
}

/// d(loss)/d(variable) by central differences; its error is about the third derivative times 2e-11.
inline double slope(double& variable, const std::function<double()>& loss) {
  constexpr double kStep = 1e-5;
  const double middle = variable;
  variable = middle + kStep;
  const double above = loss();
  variable = middle - kStep;
  const double below = loss();
  variable = middle;
  return (above - below) / (2.0 * kStep);
}

/// Expects backward() to report every parameter once, the last one first.
inline void expect_reports_last_first(Layer<double>& layer, std::span<const double> gradient) {
  std::vector<std::size_t> reported;
  layer.backward(gradient, [&](std::size_t i) { reported.push_back(i); });
  std::vector<std::size_t> expected;
  for (std::size_t i = layer.parameters().size(); i-- > 0;) expected.push_back(i);
  EXPECT_EQ(reported, expected) << layer.name();
}

/// Expects the gradients of Σ weight·output over 3 rows, then 0, then 1, to be those of finite
/// differences, for every parameter and, unless the inputs are indices, every input. Parameters
/// hold what the test put there; their gradients begin as rubbish.
inline void check_gradients(Layer<double>& layer, const Pass& pass = {},
                            std::function<std::vector<double>(std::size_t)> inputs = {}) {
  for (const std::size_t rows : {3, 0, 1}) {
    SCOPED_TRACE(layer.name() + ", rows " + std::to_string(rows));
    std::vector<double> x =
        inputs ? inputs(rows * layer.inputs()) : some_numbers(rows * layer.inputs(), 0.3);
    const std::vector<double> weights = some_numbers(rows * layer.outputs(), 2.0);
    Pass these = pass;
    these.samples = pass.samples.first(std::min(rows, pass.samples.size()));
    const auto loss = [&] {
      double sum = 0;
      const std::span<const double> y = layer.forward(x, rows, these);
      for (std::size_t i = 0; i < y.size(); ++i) sum += weights[i] * y[i];
      return sum;
    };
    for (Parameter<double>* parameter : layer.parameters())
      for (double& element : parameter->gradient()) element = 99;

    const auto y = layer.forward(x, rows, these);
    ASSERT_EQ(y.size(), weights.size());
    const std::vector<double> outputs(y.begin(), y.end());
    const InputGradient wanted = inputs ? InputGradient::skip : InputGradient::compute;
    const auto given = layer.backward(weights, kIgnore, wanted);
    const std::vector<double> x_gradient(given.begin(), given.end());
    EXPECT_TRUE(
        std::ranges::equal(layer.forward(x, rows, these), outputs));  // nothing is left over
    expect_reports_last_first(layer, weights);  // a second time: gradients are written, not added
    for (Parameter<double>* parameter : layer.parameters())
      for (std::size_t i = 0; i < parameter->size(); ++i)
        EXPECT_NEAR(parameter->gradient()[i], slope(parameter->value()[i], loss), 1e-7)
            << parameter->name() << " " << i;
    ASSERT_EQ(x_gradient.size(), inputs ? 0 : x.size());
    for (std::size_t i = 0; i < x_gradient.size(); ++i)
      EXPECT_NEAR(x_gradient[i], slope(x[i], loss), 1e-7) << "input " << i;
  }
}

}  // namespace rondo::train::testing
