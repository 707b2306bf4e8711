#include <rondo/train/mixed_precision.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include <rondo/train/attention.hpp>
#include <rondo/train/conv2d.hpp>
#include <rondo/train/embedding.hpp>
#include <rondo/train/linear.hpp>
#include <rondo/train/loss.hpp>
#include <rondo/train/lstm.hpp>
#include <rondo/train/optimizer.hpp>
#include <rondo/train/sequential.hpp>
#include <rondo/train/tanh.hpp>

#include "train/golden.hpp"
#include "train/gradient_check.hpp"

namespace rondo::train {
namespace {

using testing::kIgnore;
using testing::some_numbers;

/// By the definition: the upper half of the bits, the lower one rounded to nearest even.
float rounded(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t even = (bits >> 16) & 1;
  return std::bit_cast<float>((bits + 0x7fff + even) & 0xffff0000);
}

std::vector<float> rounded(std::vector<float> values) {
  for (float& value : values) value = rounded(value);
  return values;
}

TEST(Bfloat16, RoundsToNearestEven) {
  std::vector<float> from = some_numbers<float>(3000, 0.3);  // more than one part
  for (const float tie : {1.00390625F, 1.01171875F, -1.00390625F, 0.0F, 1e-40F})
    from.push_back(tie);
  std::vector<float> to(from.size());
  round_to_bfloat16<float>(from, to);
  EXPECT_EQ(to, rounded(from));
  EXPECT_EQ(to[3000], 1.0F);
  EXPECT_EQ(to[3001], 1.015625F);
  float nan = std::numeric_limits<float>::quiet_NaN();
  round_to_bfloat16<float>(std::span(&nan, 1), std::span(&nan, 1));
  EXPECT_TRUE(std::isnan(nan));
}

TEST(MasterWeights, AreRoundedInBetweenOnly) {
  Parameter<float> parameter("p", {300});
  const std::vector<float> master = some_numbers<float>(300, 0.7);
  std::ranges::copy(master, parameter.value().data());
  MasterWeights<float> weights({&parameter});
  const auto values = [&] {
    const auto span = parameter.value().span();
    return std::vector<float>(span.begin(), span.end());
  };
  weights.restore();
  EXPECT_EQ(values(), master);
  for (int step = 0; step < 2; ++step) {
    weights.round();
    weights.round();
    EXPECT_EQ(values(), rounded(master));
    weights.restore();
    EXPECT_EQ(values(), master);
  }
}

struct Results {
  std::vector<float> output;
  std::vector<float> input_gradient;
  std::vector<std::vector<float>> gradients;
  bool operator==(const Results&) const = default;
};

Results run(Layer<float>& layer, const std::vector<float>& input,
            const std::vector<float>& gradient, const Pass& pass) {
  Results results;
  const auto output = layer.forward(input, 3, pass);
  results.output.assign(output.begin(), output.end());
  const auto back = layer.backward(gradient, kIgnore, InputGradient::compute);
  results.input_gradient.assign(back.begin(), back.end());
  for (Parameter<float>* parameter : layer.parameters())
    results.gradients.emplace_back(parameter->gradient().begin(), parameter->gradient().end());
  return results;
}

/// The same bits as with factors that were rounded outside.
TEST(MixedPrecision, RoundsTheFactorsOfEachLayerWithProducts) {
  std::vector<std::unique_ptr<Layer<float>>> layers;
  layers.push_back(std::make_unique<Linear<float>>("linear", 12, 5));
  layers.push_back(
      std::make_unique<Conv2d<float>>("conv", ImageShape{2, 4, 4}, 3, Window{3, 1, 1}));
  layers.push_back(std::make_unique<Lstm<float>>("lstm", 4, 3, 5));
  layers.push_back(std::make_unique<CausalSelfAttention<float>>("attention", 4, 6, 2));
  for (const auto& layer : layers) {
    layer->initialise(5);
    const auto input = some_numbers<float>(3 * layer->inputs(), 0.1);
    const auto gradient = some_numbers<float>(3 * layer->outputs(), 0.9);
    MasterWeights<float> weights(layer->parameters());
    const Results full = run(*layer, input, gradient, {});
    weights.round();
    const Results expected = run(*layer, rounded(input), rounded(gradient), {});
    const Results mixed = run(*layer, input, gradient, {.precision = Precision::bfloat16});
    EXPECT_EQ(mixed, expected) << layer->name();
    EXPECT_NE(mixed, full) << layer->name();
    for (std::size_t i = 0; i < full.output.size(); ++i)
      EXPECT_NEAR(mixed.output[i], full.output[i], 0.03) << layer->name();
  }
}

/// Losses of a training of two linear layers, as golden/make_bfloat16_golden.py has it, and the
/// parameters at its end.
struct Trained {
  std::vector<double> losses;
  std::vector<std::vector<double>> parameters;
};
Trained train_golden(const nlohmann::json& golden, bool mixed) {
  const std::vector<float> x = golden["x"];
  const std::vector<float> target = golden["target"];
  const std::size_t rows = golden["rows"];
  const std::size_t hidden = golden["start"][1].size();
  Sequential<float> model(Linear<float>("first", x.size() / rows, hidden), Tanh<float>(hidden),
                          Linear<float>("second", hidden, target.size() / rows));
  const auto parameters = model.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i)
    std::ranges::copy(std::vector<float>(golden["start"][i]), parameters[i]->value().data());
  MasterWeights<float> weights(parameters);
  const auto optimizer = sgd<float>(parameters, {.momentum = golden["momentum"]});
  const auto scale = 0.5 / static_cast<double>(rows);  // of a squared error, to make it the loss
  const auto steps = golden["bfloat16"]["losses"].size();
  Trained trained;
  std::vector<float> gradient(target.size());
  for (std::size_t step = 0; step < steps; ++step) {
    if (mixed) weights.round();
    const auto outputs =
        model.forward(x, rows, {.precision = mixed ? Precision::bfloat16 : Precision::full});
    trained.losses.push_back(squared_error<float>(outputs, target, gradient) * scale);
    for (float& element : gradient) element *= static_cast<float>(scale);
    model.backward(gradient, kIgnore);
    weights.restore();
    optimizer->step(golden["rate"]);
  }
  for (const Parameter<float>* parameter : parameters)
    trained.parameters.emplace_back(parameter->value().span().begin(),
                                    parameter->value().span().end());
  return trained;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

/// Where float32 sums of another order round to another bfloat16, results part by as much as that:
/// far less than training without rounding is away.
TEST(MixedPrecision, TrainsAsPyTorchDoesWithRoundedFactors) {
  const nlohmann::json golden = testing::golden("bfloat16.json");
  const Trained mixed = train_golden(golden, true);
  const Trained full = train_golden(golden, false);
  const nlohmann::json& expected = golden["bfloat16"];
  ASSERT_EQ(mixed.losses.size(), expected["losses"].size());
  EXPECT_LT(largest_difference(mixed.losses, expected["losses"]), 2e-4);
  EXPECT_GT(largest_difference(full.losses, expected["losses"]), 2e-3);
  EXPECT_LT(largest_difference(full.losses, golden["full"]["losses"]), 1e-5);
  for (std::size_t i = 0; i < mixed.parameters.size(); ++i)
    EXPECT_LT(largest_difference(mixed.parameters[i], expected["parameters"][i]), 1e-3) << i;
}

TEST(MixedPrecision, LeavesTheNumbersOfCharactersAlone) {
  Sequential<float> model(Embedding<float>("characters", 1, 300, 4), Linear<float>("head", 4, 300));
  model.initialise(1);
  const std::vector<float> input{255.0F, 257.0F, 299.0F};  // bfloat16 has no 257
  const auto output = model.forward(input, 3, {.precision = Precision::bfloat16});
  const std::vector<float> mixed(output.begin(), output.end());
  const std::vector<float> other{255.0F, 256.0F, 299.0F};
  const auto others = model.forward(other, 3, {.precision = Precision::bfloat16});
  EXPECT_NE(mixed, std::vector<float>(others.begin(), others.end()));
}

}  // namespace
}  // namespace rondo::train
