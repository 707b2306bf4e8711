// N ranks train the model that one rank trains: layers with random masks, data through the loader.

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include <rondo/train/train.hpp>

#include "support/random_data.hpp"
#include "support/thread_communicators.hpp"

namespace rondo::train {
namespace {

constexpr ImageShape kImage{1, 6, 6};
constexpr std::uint64_t kEpochs = 4;

/// 45 images of stripes of three directions: five batches of 10, the last of 5.
LabelledData stripes() {
  LabelledData data{{kImage.height, kImage.width}, {}, {}, 1.0 / 255};
  for (std::size_t i = 0; i < 45; ++i) {
    const std::size_t label = i * i % 3;
    for (std::size_t y = 0; y < kImage.height; ++y)
      for (std::size_t x = 0; x < kImage.width; ++x) {
        const std::size_t across = label == 0 ? x : label == 1 ? y : x + y;
        data.features.push_back(static_cast<std::uint8_t>(
            (across + i) % 3 == 0 ? 255 : (7 * x + 11 * y + 13 * i) % 60));
      }
    data.labels.push_back(static_cast<std::uint8_t>(label));
  }
  return data;
}

template <class T>
Sequential<T> make_model() {
  return Sequential<T>(Conv2d<T>("conv", kImage, 4, {.size = 3, .padding = 1}), Relu<T>(144),
                       MaxPool2d<T>({4, 6, 6}, {.size = 2, .stride = 2}),
                       Dropout<T>("drop1", 36, 0.25), LayerNorm<T>("norm", 36),
                       Residual<T>(Sequential<T>(Linear<T>("hidden", 36, 36), Gelu<T>(36),
                                                 Dropout<T>("drop2", 36, 0.5))),
                       Linear<T>("head", 36, 3));
}

/// 45 samples of a text in which each letter follows from the one before; the last has 3 labels.
TextData letters() {
  TextData data{"abcde", {0}, 4};
  while (data.characters.size() < 180)
    data.characters.push_back(static_cast<std::uint8_t>((2 * data.characters.back() + 1) % 5));
  return data;
}

/// A language model of both kinds of layers over sequences.
template <class T>
Sequential<T> make_language_model() {
  return Sequential<T>(Embedding<T>("letters", 4, 5, 8), PositionEmbedding<T>("positions", 4, 8),
                       Residual<T>(Sequential<T>(EachPosition<T>(4, LayerNorm<T>("norm", 8)),
                                                 CausalSelfAttention<T>("attention", 4, 8, 2))),
                       Lstm<T>("lstm", 4, 8, 8), EachPosition<T>(4, Linear<T>("head", 8, 5)));
}

/// The mean loss over the targets of each step, as all ranks together have it.
template <class T, class Data>
std::vector<double> losses_of_training(Communicator& communicator, const Data& data,
                                       Sequential<T> model) {
  const std::vector<std::size_t> samples = rondo::testing::first_samples(data.samples());
  Loader<T> loader(
      data, samples,
      {.batch_size = 10, .seed = 1, .rank = communicator.rank(), .ranks = communicator.size()});
  model.initialise(7);
  const std::vector<Parameter<T>*> parameters = model.parameters();
  GradientReducer reducer(communicator, {.bucket_bytes = 2000, .first_bucket_bytes = 500});
  reducer.add_views<T>(parameters);
  const auto optimizer = adamw<T>(parameters);

  std::vector<double> losses;
  std::vector<T> gradient;
  for (std::uint64_t epoch = 0; epoch < kEpochs; ++epoch) {
    loader.start(epoch);
    while (const auto batch = loader.next()) {
      reducer.begin(batch->weight());
      const Pass pass{
          .training = true, .seed = 5, .step = losses.size(), .samples = batch->numbers};
      const auto logits = model.forward(batch->features, batch->samples(), pass);
      gradient.resize(logits.size());
      double loss = cross_entropy<T>(logits, batch->labels, gradient);
      model.backward(gradient, [&](std::size_t i) { reducer.ready(i); });
      const auto total = static_cast<double>(reducer.finish());
      optimizer->step(0.01);
      communicator.allreduce(std::span(&loss, 1), ReduceOp::sum);
      losses.push_back(loss / total);
    }
  }
  return losses;
}

template <class T, class Data, class Make>
void expect_same_losses(const Data& data, Make make) {
  const double tolerance = sizeof(T) == 8 ? 1e-10 : 1e-5;
  std::vector<double> expected;
  rondo::testing::run_communicators(1, [&](Communicator& communicator) {
    expected = losses_of_training<T>(communicator, data, make());
  });
  ASSERT_EQ(expected.size(), 20U);
  EXPECT_LT(expected.back(), 0.5 * expected.front());  // it did learn
  for (const int ranks : {2, 3, 4, 7})
    rondo::testing::run_communicators(ranks, [&](Communicator& communicator) {
      const std::vector<double> losses = losses_of_training<T>(communicator, data, make());
      ASSERT_EQ(losses.size(), expected.size());
      for (std::size_t step = 0; step < losses.size(); ++step)
        EXPECT_NEAR(losses[step], expected[step], tolerance * std::max(1.0, expected[step]))
            << ranks << " ranks, step " << step;
    });
}

template <class T>
class LayerEquality : public ::testing::Test {};
using ElementTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(LayerEquality, ElementTypes);

TYPED_TEST(LayerEquality, NRanksTrainTheModelOfOne) {
  expect_same_losses<TypeParam>(stripes(), make_model<TypeParam>);
}

TYPED_TEST(LayerEquality, NRanksTrainTheLanguageModelOfOne) {
  expect_same_losses<TypeParam>(letters(), make_language_model<TypeParam>);
}

}  // namespace
}  // namespace rondo::train
