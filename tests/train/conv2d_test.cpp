#include <rondo/train/conv2d.hpp>

#include <limits>

#include <rondo/train/max_pool2d.hpp>

#include "support/expect_error.hpp"
#include "train/gradient_check.hpp"

namespace rondo::train {
namespace {

using rondo::testing::expect_error;
using testing::check_gradients;
using testing::kIgnore;
using testing::some_numbers;

struct Case {
  ImageShape image;
  std::size_t channels;
  Window window;
};

const Case kCases[] = {
    {{2, 5, 4}, 3, {3, 1, 0}}, {{2, 5, 4}, 3, {3, 1, 1}}, {{1, 7, 6}, 2, {3, 2, 1}},
    {{3, 4, 4}, 1, {1, 1, 0}}, {{1, 3, 3}, 2, {3, 1, 0}}, {{1, 2, 3}, 2, {4, 3, 2}},
    {{1, 1, 1}, 1, {1, 1, 2}}, {{2, 3, 2}, 2, {2, 1, 3}}, {{1, 6, 5}, 1, {2, 3, 0}},
};

/// The formula, as it stands.
double correlate(const Case& one, std::span<const double> weight, std::span<const double> x,
                 std::size_t o, std::size_t p, std::size_t q) {
  const auto& [image, channels, window] = one;
  double sum = 0;
  for (std::size_t c = 0; c < image.channels; ++c)
    for (std::size_t i = 0; i < window.size; ++i)
      for (std::size_t j = 0; j < window.size; ++j) {
        const auto y = static_cast<long>(p * window.stride + i) - static_cast<long>(window.padding);
        const auto z = static_cast<long>(q * window.stride + j) - static_cast<long>(window.padding);
        if (y < 0 || z < 0 || y >= static_cast<long>(image.height) ||
            z >= static_cast<long>(image.width))
          continue;
        sum += weight[((o * image.channels + c) * window.size + i) * window.size + j] *
               x[(c * image.height + static_cast<std::size_t>(y)) * image.width +
                 static_cast<std::size_t>(z)];
      }
  return sum;
}

TEST(Conv2d, IsTheCrossCorrelationOfItsFormula) {
  for (const Case& one : kCases) {
    Conv2d<double> layer("conv", one.image, one.channels, one.window);
    layer.initialise(1);
    const std::vector<double> x = some_numbers(2 * layer.inputs());
    const auto y = layer.forward(x, 2);
    const ImageShape out = layer.output_shape();
    for (std::size_t row = 0, k = 0; row < 2; ++row)
      for (std::size_t o = 0; o < out.channels; ++o)
        for (std::size_t p = 0; p < out.height; ++p)
          for (std::size_t q = 0; q < out.width; ++q, ++k)
            EXPECT_NEAR(y[k],
                        layer.bias().value()[o] +
                            correlate(one, layer.weight().value().span(),
                                      std::span(x).subspan(row * layer.inputs()), o, p, q),
                        1e-14);
  }
}

TEST(Conv2d, HasTheGradientsOfFiniteDifferences) {
  for (const Case& one : kCases) {
    Conv2d<double> layer("conv", one.image, one.channels, one.window);
    layer.initialise(2);
    check_gradients(layer);
  }
}

TEST(Conv2d, RefusesWindowsThatDoNotFit) {
  expect_error(ErrorCode::usage, {"'conv'", "size 4", "2×3×5"}, [] {
    Conv2d<float>("conv", {2, 3, 5}, 1, {.size = 4});
  });
  EXPECT_THROW(Conv2d<float>("conv", {2, 3, 5}, 1, {.size = 0}), Error);
  EXPECT_THROW(Conv2d<float>("conv", {2, 3, 5}, 1, {.size = 1, .stride = 0}), Error);
  EXPECT_THROW(Conv2d<float>("conv", {0, 3, 5}, 1, {.size = 1}), Error);
  EXPECT_THROW(Conv2d<float>("conv", {1, 3, 5}, 0, {.size = 1}), Error);
}

TEST(MaxPool2d, HasTheGradientsOfFiniteDifferences) {
  for (const auto& [image, channels, window] : kCases) {
    if (window.padding > window.size / 2) continue;
    MaxPool2d<double> layer(image, window);
    check_gradients(layer);
  }
}

TEST(MaxPool2d, TakesTheLargestOfEachPlace) {
  MaxPool2d<double> layer({1, 2, 4}, {.size = 2, .stride = 2});
  const std::vector<double> x{1, 2, -5, -4,  //
                              3, 0, -6, -4};
  const auto y = layer.forward(x, 1);
  EXPECT_EQ(std::vector<double>(y.begin(), y.end()), (std::vector<double>{3, -4}));
  const std::vector<double> gradient{10, 20};
  const auto given = layer.backward(gradient, kIgnore, InputGradient::compute);
  EXPECT_EQ(std::vector<double>(given.begin(), given.end()),
            (std::vector<double>{0, 0, 0, 20, 10, 0, 0, 0}));  // the first of the two -4
}

TEST(MaxPool2d, NeverTakesPaddingAndAlwaysWhatIsNotANumber) {
  MaxPool2d<double> layer({1, 2, 2}, {.size = 2, .stride = 2, .padding = 1});
  const std::vector<double> x{-1, -2, -3, std::numeric_limits<double>::quiet_NaN()};
  const auto y = layer.forward(x, 1);
  EXPECT_EQ(y[0], -1);
  EXPECT_EQ(y[1], -2);
  EXPECT_EQ(y[2], -3);
  EXPECT_TRUE(std::isnan(y[3]));
}

TEST(MaxPool2d, RefusesPlacesOfNothingButPadding) {
  expect_error(ErrorCode::usage, {"padding of at most 1", "2"}, [] {
    MaxPool2d<float>({1, 4, 4}, {.size = 3, .padding = 2});
  });
}

}  // namespace
}  // namespace rondo::train
