#include <rondo/train/embedding.hpp>

#include <cmath>

#include <rondo/train/each_position.hpp>
#include <rondo/train/layer_norm.hpp>
#include <rondo/train/linear.hpp>
#include <rondo/train/position_embedding.hpp>
#include <rondo/train/sequential.hpp>

#include "support/expect_error.hpp"
#include "train/gradient_check.hpp"

namespace rondo::train {
namespace {

using rondo::testing::expect_error;
using testing::check_gradients;
using testing::kIgnore;
using testing::some_numbers;

std::vector<double> some_words(std::size_t count) {
  std::vector<double> words(count);
  for (std::size_t i = 0; i < count; ++i) words[i] = static_cast<double>(i * i % 5);
  return words;
}

TEST(Embedding, HasTheGradientsOfFiniteDifferences) {
  Embedding<double> layer("words", 4, 5, 3);
  layer.initialise(1);
  check_gradients(layer, {}, some_words);
  Sequential<double> model(std::move(layer), EachPosition<double>(4, Linear<double>("head", 3, 2)));
  model.initialise(2);
  check_gradients(model, {}, some_words);
}

TEST(Embedding, GivesTheVectorOfEachWord) {
  Embedding<float> layer("words", 2, 3, 2);
  for (std::size_t i = 0; i < 6; ++i) layer.weight().value()[i] = static_cast<float>(i);
  const std::vector<float> words{2, 0};
  const auto y = layer.forward(words, 1);
  EXPECT_EQ(std::vector<float>(y.begin(), y.end()), (std::vector<float>{4, 5, 0, 1}));
}

TEST(Embedding, RefusesWhatIsNoWord) {
  Embedding<float> layer("words", 2, 3, 2);
  for (const float bad : {3.0F, -1.0F, 0.5F, std::nanf("")}) {
    const std::vector<float> words{0, 1, 2, bad};
    expect_error(ErrorCode::usage, {"row 1, position 1", "'words'", "0 to 2"},
                 [&] { layer.forward(words, 2); });
  }
}

TEST(Embedding, MustComeFirst) {
  Embedding<float> layer("words", 1, 3, 2);
  const std::vector<float> word{1};
  layer.forward(word, 1);
  const std::vector<float> gradient(2);
  expect_error(ErrorCode::usage, {"'words'", "first layer"},
               [&] { layer.backward(gradient, kIgnore, InputGradient::compute); });
}

TEST(Embedding, DrawsFromTheNormalDistribution) {
  Embedding<double> layer("words", 1, 1000, 20);
  layer.initialise(1);
  double sum = 0;
  double squares = 0;
  for (const double x : layer.weight().value().span()) {
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / 20'000, 0, 0.03);
  EXPECT_NEAR(squares / 20'000, 1, 0.04);
}

TEST(PositionEmbedding, HasTheGradientsOfFiniteDifferences) {
  PositionEmbedding<double> layer("positions", 4, 3);
  layer.initialise(1);
  check_gradients(layer);
}

TEST(PositionEmbedding, AddsTheSameVectorsToEverySample) {
  PositionEmbedding<float> layer("positions", 2, 2);
  for (std::size_t i = 0; i < 4; ++i) layer.weight().value()[i] = static_cast<float>(i);
  const std::vector<float> x{10, 10, 10, 10, 20, 20, 20, 20};
  const auto y = layer.forward(x, 2);
  EXPECT_EQ(std::vector<float>(y.begin(), y.end()),
            (std::vector<float>{10, 11, 12, 13, 20, 21, 22, 23}));
}

TEST(LayerNorm, HasTheGradientsOfFiniteDifferences) {
  LayerNorm<double> layer("norm", 5);
  for (std::size_t i = 0; i < 5; ++i) {
    layer.weight().value()[i] = 0.5 + static_cast<double>(i);
    layer.bias().value()[i] = static_cast<double>(i);
  }
  check_gradients(layer);
  LayerNorm<double> one("one", 1);
  check_gradients(one);
}

TEST(LayerNorm, GivesMeanZeroAndVarianceOneFarFromZeroToo) {
  LayerNorm<float> layer("norm", 4, 0.0);
  const std::vector<float> x{10000, 10001, 10002, 10003};
  const auto y = layer.forward(x, 1);
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_NEAR(y[i], (static_cast<double>(i) - 1.5) / std::sqrt(1.25), 1e-6);
}

TEST(LayerNorm, OfEqualFeaturesIsItsBias) {
  LayerNorm<float> layer("norm", 3);
  layer.bias().value()[1] = 7;
  const std::vector<float> x{5, 5, 5};
  EXPECT_EQ(layer.forward(x, 1)[1], 7);
}

TEST(EachPosition, DoesTheSameAtEachPosition) {
  EachPosition<double> layer(3, LayerNorm<double>("norm", 4));
  check_gradients(layer);
  const std::vector<double> x = some_numbers(12);
  const auto y = layer.forward(x, 1);
  LayerNorm<double> norm("norm", 4);
  const auto last = norm.forward(std::span(x).last(4), 1);
  EXPECT_TRUE(std::ranges::equal(y.last(4), last));
}

}  // namespace
}  // namespace rondo::train
