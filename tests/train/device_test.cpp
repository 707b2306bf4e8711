#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <rondo/train/cross_entropy.hpp>
#include <rondo/train/gelu.hpp>
#include <rondo/train/linear.hpp>
#include <rondo/train/loss.hpp>
#include <rondo/train/lstm.hpp>
#include <rondo/train/mixed_precision.hpp>
#include <rondo/train/optimizer.hpp>
#include <rondo/train/placed.hpp>
#include <rondo/train/relu.hpp>
#include <rondo/train/sequential.hpp>
#include <rondo/train/sigmoid.hpp>
#include <rondo/train/tanh.hpp>

#include "device/runtime_suite.hpp"
#include "support/expect_error.hpp"
#include "train/gradient_check.hpp"

// Training in the memory of a device, where the host may not touch anything, against the host's.
namespace rondo::train {
namespace {

using testing::kIgnore;
using testing::some_numbers;

constexpr std::size_t kRows = 7;
constexpr std::size_t kInputs = 5;
constexpr std::size_t kOutputs = 3;

template <class T>
using Loss = std::function<double(Compute&, std::span<const T> outputs, std::span<T> gradient)>;

template <class T>
double squared(Compute& place, std::span<const T> outputs, std::span<T> gradient) {
  Tensor<T> targets;
  const auto target = some_numbers<T>(kRows * kOutputs, 3);
  return squared_error<T>(outputs, placed<T>(place, target, targets), gradient, place);
}

template <class T>
double classified(Compute& place, std::span<const T> outputs, std::span<T> gradient) {
  Tensor<std::uint32_t> targets;
  const std::vector<std::uint32_t> target{0, 2, 1, kNoTarget, 1, 0, 2};
  return cross_entropy<T>(outputs, placed<std::uint32_t>(place, target, targets), gradient, place);
}

template <class T>
Sequential<T> make_model() {
  return Sequential<T>(Linear<T>("a", kInputs, 20), Relu<T>(20), Linear<T>("b", 20, 18),
                       Tanh<T>(18), Linear<T>("c", 18, 4), Sigmoid<T>(4), Gelu<T>(4),
                       Linear<T>("d", 4, kOutputs));
}

template <class T>
using MakeOptimizer = std::unique_ptr<Optimizer<T>> (*)(std::vector<Parameter<T>*>);

/// The losses of some steps, then the parameters, then a gradient of the inputs.
template <class T>
std::vector<double> results(Compute& place, const Loss<T>& loss, MakeOptimizer<T> make,
                            Precision precision = Precision::full) {
  Sequential<T> model = make_model<T>();
  model.initialise(1);
  model.move_to(place);
  const auto optimizer = make(model.parameters());
  Tensor<T> input_memory;
  Tensor<T> gradient({kRows * kOutputs}, place);
  std::vector<double> all;
  std::span<const T> input_gradient;
  for (int step = 0; step < 3; ++step) {
    const auto x = some_numbers<T>(kRows * kInputs, step);
    const auto outputs =
        model.forward(placed<T>(place, x, input_memory), kRows, {.precision = precision});
    all.push_back(loss(place, outputs, gradient.span()));
    input_gradient = model.backward(gradient.span(), kIgnore, InputGradient::compute);
    optimizer->step(0.01);
  }
  Tensor<T> memory;
  for (const T element : fetched(place, input_gradient, memory)) all.push_back(element);
  model.move_to(Compute::host());
  for (const Parameter<T>* parameter : model.parameters())
    for (const T element : parameter->value().span()) all.push_back(element);
  return all;
}

class TrainingOnDevice : public device::DeviceRuntime {
 protected:
  template <class T>
  void expect_like_host(const Loss<T>& loss, MakeOptimizer<T> make,
                        Precision precision = Precision::full) {
    Compute place(*runtime_, 0);
    const auto expected = results(Compute::host(), loss, make, precision);
    const auto got = results(place, loss, make, precision);
    ASSERT_EQ(got.size(), expected.size());
    const double tolerance = GetParam() == "Host" ? 0.0 : sizeof(T) == 4 ? 1e-5 : 1e-12;
    for (std::size_t i = 0; i < got.size(); ++i)
      ASSERT_NEAR(got[i], expected[i], tolerance) << "number " << i;
  }
  template <class T>
  void expect_all_like_host() {
    using All = std::vector<Parameter<T>*>;
    expect_like_host<T>(squared<T>, [](All p) { return sgd<T>(std::move(p)); });
    expect_like_host<T>(classified<T>, [](All p) {
      return sgd<T>(std::move(p), {.momentum = 0.9, .weight_decay = 0.1, .nesterov = true});
    });
    expect_like_host<T>(squared<T>, [](All p) { return adam<T>(std::move(p)); });
    expect_like_host<T>(
        classified<T>, [](All p) { return adamw<T>(std::move(p)); }, Precision::bfloat16);
    expect_like_host<T>(squared<T>, [](All p) { return rmsprop<T>(std::move(p)); });
    expect_like_host<T>(classified<T>, [](All p) {
      return rmsprop<T>(std::move(p), {.momentum = 0.5, .centered = true});
    });
  }
};

TEST_P(TrainingOnDevice, IsWhatItIsOnTheHost) {
  expect_all_like_host<float>();
  expect_all_like_host<double>();
}

TEST_P(TrainingOnDevice, TakesNoRows) {
  Compute place(*runtime_, 0);
  Sequential<float> model = make_model<float>();
  model.move_to(place);
  EXPECT_TRUE(model.forward({}, 0).empty());
  model.backward({}, kIgnore);
  EXPECT_EQ(squared_error<float>({}, {}, {}, place), 0.0);
}

TEST_P(TrainingOnDevice, NamesTheRowWhoseTargetIsNoClass) {
  Compute place(*runtime_, 0);
  const std::vector<std::uint32_t> targets{1, 5};
  Tensor<std::uint32_t> memory;
  Tensor<float> logits({6}, place);
  rondo::testing::expect_error(ErrorCode::usage, {"the target of row 1 is class 5"}, [&] {
    cross_entropy<float>(logits.span(), placed<std::uint32_t>(place, targets, memory), {}, place);
  });
}

TEST_P(TrainingOnDevice, NamesALayerThatComputesOnTheHostOnly) {
  Compute place(*runtime_, 0);
  Sequential<float> model(Linear<float>("a", 4, 4), Lstm<float>("cell", 1, 4, 4));
  rondo::testing::expect_error(ErrorCode::usage, {"layer 'cell' computes on the host only"},
                               [&] { model.move_to(place); });
}

TEST_P(TrainingOnDevice, RefusesParametersThatMovedUnderTheOptimizer) {
  Compute place(*runtime_, 0);
  Linear<float> model("a", 2, 1);
  const auto optimizer = sgd<float>(model.parameters(), {.momentum = 0.9});
  optimizer->step(0.1);
  model.move_to(place);
  rondo::testing::expect_error(ErrorCode::usage,
                               {"'a.weight' was moved after the optimizer's first step"},
                               [&] { optimizer->step(0.1); });
}

TEST_P(TrainingOnDevice, RefusesParametersThatMovedAwayFromTheirMasterWeights) {
  Compute place(*runtime_, 0);
  Linear<float> model("a", 2, 1);
  MasterWeights<float> weights(model.parameters());
  model.move_to(place);
  rondo::testing::expect_error(ErrorCode::usage, {"'a.weight' was moved after its master weights"},
                               [&] { weights.round(); });
}

TEST_P(TrainingOnDevice, DrawsTheHostsNumbersWhereverAModelLies) {
  Compute place(*runtime_, 0);
  Linear<float> here("a", 4, 3);
  Linear<float> there("a", 4, 3);
  here.initialise(7);
  there.move_to(place);
  there.initialise(7);
  there.move_to(Compute::host());
  for (std::size_t i = 0; i < here.parameters().size(); ++i)
    EXPECT_TRUE(std::ranges::equal(here.parameters()[i]->value().span(),
                                   there.parameters()[i]->value().span()));
}

RONDO_FOR_EACH_RUNTIME(TrainingOnDevice);

}  // namespace
}  // namespace rondo::train
