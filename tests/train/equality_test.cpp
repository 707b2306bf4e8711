// N ranks train the model that one rank trains.

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include <rondo/train/broadcast.hpp>
#include <rondo/train/linear.hpp>
#include <rondo/train/loss.hpp>
#include <rondo/train/optimizer.hpp>
#include <rondo/train/reducer.hpp>
#include <rondo/train/schedule.hpp>

#include "support/thread_communicators.hpp"

namespace rondo::train {
namespace {

constexpr std::size_t kSamples = 103;
constexpr std::size_t kBatch = 20;  // the last of an epoch has 3 samples: fewer than ranks
constexpr std::size_t kFeatures = 5;
constexpr std::size_t kOutputs = 2;
constexpr int kEpochs = 8;

template <class T>
using MakeOptimizer = std::function<std::unique_ptr<Optimizer<T>>(std::vector<Parameter<T>*>)>;

template <class T>
struct Rows {
  std::vector<T> x;
  std::vector<T> target;

  /// A noisy linear function's samples.
  static Rows all() {
    Rows rows;
    for (std::size_t s = 0; s < kSamples; ++s) {
      for (std::size_t f = 0; f < kFeatures; ++f)
        rows.x.push_back(static_cast<T>(std::sin(1.3 * double(s) + 2.1 * double(f * f))));
      for (std::size_t o = 0; o < kOutputs; ++o)
        rows.target.push_back(rows.x[s * kFeatures + o] * T{2} - rows.x[s * kFeatures + 3] +
                              static_cast<T>(0.1 * std::cos(7.7 * double(s + o))));
    }
    return rows;
  }
  /// Every size-th sample of [begin, end), from the rank-th on.
  Rows share(std::size_t begin, std::size_t end, const Communicator& communicator) const {
    Rows mine;
    for (std::size_t s = begin + std::size_t(communicator.rank()); s < end;
         s += std::size_t(communicator.size())) {
      mine.x.insert(mine.x.end(), &x[s * kFeatures], &x[(s + 1) * kFeatures]);
      mine.target.insert(mine.target.end(), &target[s * kOutputs], &target[(s + 1) * kOutputs]);
    }
    return mine;
  }
  std::size_t count() const { return x.size() / kFeatures; }
};

template <class T>
void train_on_batch(Linear<T>& model, GradientReducer& reducer, const Rows<T>& rows) {
  reducer.begin(rows.count());
  const std::span<const T> prediction = model.forward(rows.x, rows.count());
  std::vector<T> gradient(prediction.size());
  squared_error<T>(prediction, rows.target, gradient);
  model.backward(gradient, [&](std::size_t i) { reducer.ready(i); });
}

/// The mean loss over all samples after each epoch, on this rank.
template <class T>
std::vector<double> losses_of_training(Communicator& communicator, const MakeOptimizer<T>& make) {
  const Rows<T> rows = Rows<T>::all();
  Linear<T> model("fc", kFeatures, kOutputs);
  model.initialise(static_cast<std::uint64_t>(communicator.rank()));  // until rank 0's arrive
  const std::vector<Parameter<T>*> parameters = model.parameters();
  broadcast_parameters(communicator, values_of<T>(parameters));
  GradientReducer reducer(communicator, {.bucket_bytes = 32, .first_bucket_bytes = 16});
  reducer.add_views<T>(parameters);
  const std::unique_ptr<Optimizer<T>> optimizer = make(parameters);
  const Schedule schedule{.base = 0.05,
                          .shape = Schedule::Shape::cosine,
                          .warmup_steps = 5,
                          .total_steps = kEpochs * ((kSamples + kBatch - 1) / kBatch)};

  std::vector<double> losses;
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    for (std::size_t begin = 0; begin < kSamples; begin += kBatch) {
      const std::size_t end = std::min(begin + kBatch, kSamples);
      train_on_batch(model, reducer, rows.share(begin, end, communicator));
      EXPECT_EQ(reducer.finish(), end - begin);
      optimizer->step(schedule.at(static_cast<std::uint64_t>(optimizer->steps())));
    }
    losses.push_back(squared_error<T>(model.forward(rows.x, kSamples), rows.target) / kSamples);
  }
  return losses;
}

template <class T>
void expect_same_losses(const MakeOptimizer<T>& make, double tolerance) {
  std::vector<double> expected;
  rondo::testing::run_communicators(
      1, [&](Communicator& communicator) { expected = losses_of_training<T>(communicator, make); });
  EXPECT_LT(expected.back(), 0.5 * expected.front());  // it did learn
  for (const int ranks : {2, 3, 4, 5, 8})
    rondo::testing::run_communicators(ranks, [&](Communicator& communicator) {
      const std::vector<double> losses = losses_of_training<T>(communicator, make);
      for (std::size_t epoch = 0; epoch < losses.size(); ++epoch)
        EXPECT_NEAR(losses[epoch], expected[epoch], tolerance * expected[epoch])
            << ranks << " ranks, epoch " << epoch;
    });
}

template <class T>
class Equality : public ::testing::Test {
 protected:
  static constexpr double kTolerance = sizeof(T) == 8 ? 1e-10 : 1e-5;
};
using ElementTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Equality, ElementTypes);

TYPED_TEST(Equality, NRanksTrainTheModelOfOneWithMomentum) {
  expect_same_losses<TypeParam>(
      [](auto parameters) {
        return sgd<TypeParam>(parameters, {.momentum = 0.9, .nesterov = true});
      },
      this->kTolerance);
}

TYPED_TEST(Equality, NRanksTrainTheModelOfOneWithAdamW) {
  expect_same_losses<TypeParam>([](auto parameters) { return adamw<TypeParam>(parameters); },
                                this->kTolerance);
}

}  // namespace
}  // namespace rondo::train
