#include <rondo/train/dropout.hpp>

#include <algorithm>

#include <rondo/train/sequential.hpp>

#include "support/expect_error.hpp"
#include "train/gradient_check.hpp"

namespace rondo::train {
namespace {

using rondo::testing::expect_error;
using testing::check_gradients;

/// What becomes of ones: the mask of `samples`, one row each.
std::vector<float> mask_of(Dropout<float>& layer, const Pass& pass) {
  const std::vector<float> ones(pass.samples.size() * layer.inputs(), 1.0F);
  const auto y = layer.forward(ones, pass.samples.size(), pass);
  return {y.begin(), y.end()};
}

TEST(Dropout, HasTheGradientsOfFiniteDifferences) {
  const std::vector<std::size_t> samples{7, 1, 400};
  Dropout<double> layer("drop", 6, 0.5);
  check_gradients(layer, {.training = true, .seed = 3, .step = 2, .samples = samples});
  check_gradients(layer);
}

TEST(Dropout, DropsTheShareThatWasAskedForAndScalesTheRest) {
  Dropout<float> layer("drop", 100'000, 0.3);
  const std::vector<std::size_t> samples{5};
  const std::vector<float> mask = mask_of(layer, {.training = true, .samples = samples});
  const auto dropped = static_cast<double>(std::ranges::count(mask, 0.0F));
  EXPECT_NEAR(dropped / 1e5, 0.3, 0.006);  // four standard deviations
  EXPECT_EQ(std::ranges::count(mask, 1 / 0.7F), 100'000 - std::ranges::count(mask, 0.0F));
}

TEST(Dropout, ChangesNothingInEvaluation) {
  Dropout<float> layer("drop", 3, 0.5);
  const std::vector<float> x{1, 2, 3};
  EXPECT_EQ(layer.forward(x, 1).data(), x.data());
}

TEST(Dropout, DropsTheSameOfASampleWhereverItLies) {
  Dropout<float> whole("drop", 20, 0.5);
  const std::vector<std::size_t> samples{4, 9, 2};
  const std::vector<float> mask =
      mask_of(whole, {.training = true, .seed = 1, .step = 8, .samples = samples});
  Dropout<float> another("drop", 20, 0.5);
  for (std::size_t row = 0; row < samples.size(); ++row) {
    const std::vector<float> alone = mask_of(
        another,
        {.training = true, .seed = 1, .step = 8, .samples = std::span(samples).subspan(row, 1)});
    EXPECT_TRUE(std::ranges::equal(alone, std::span(mask).subspan(row * 20, 20)));
  }
}

TEST(Dropout, DropsOthersForEachSeedStepSampleAndLayer) {
  Dropout<float> layer("drop", 64, 0.5);
  Dropout<float> other("drop2", 64, 0.5);
  const std::vector<std::size_t> one{1};
  const std::vector<std::size_t> two{2};
  const std::vector<std::vector<float>> masks{
      mask_of(layer, {.training = true, .seed = 1, .step = 1, .samples = one}),
      mask_of(layer, {.training = true, .seed = 2, .step = 1, .samples = one}),
      mask_of(layer, {.training = true, .seed = 1, .step = 2, .samples = one}),
      mask_of(layer, {.training = true, .seed = 1, .step = 1, .samples = two}),
      mask_of(other, {.training = true, .seed = 1, .step = 1, .samples = one})};
  for (std::size_t a = 0; a < masks.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) EXPECT_NE(masks[a], masks[b]) << a << " and " << b;
}

TEST(Dropout, NeedsTheNumbersOfItsSamples) {
  Dropout<float> layer("drop", 2, 0.5);
  const std::vector<float> x(4);
  const std::vector<std::size_t> one{1};
  expect_error(ErrorCode::usage, {"'drop'", "2 rows", "1 sample"},
               [&] { layer.forward(x, 2, {.training = true, .samples = one}); });
}

TEST(Dropout, RefusesWhatIsNoProbabilityAndTwoLayersOfOneName) {
  EXPECT_THROW(Dropout<float>("drop", 1, 1.0), Error);
  EXPECT_THROW(Dropout<float>("drop", 1, -0.1), Error);
  expect_error(ErrorCode::usage, {"'drop'"}, [] {
    Sequential<float>(Dropout<float>("drop", 2, 0.5), Dropout<float>("drop", 2, 0.5));
  });
}

}  // namespace
}  // namespace rondo::train
