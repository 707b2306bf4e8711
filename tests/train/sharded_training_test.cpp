// Ranks that share the optimizer's state train what ranks with all of it train.

#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <rondo/train/optimizer.hpp>
#include <rondo/train/reducer.hpp>

#include "support/expect_error.hpp"
#include "support/thread_communicators.hpp"

namespace rondo::train {
namespace {

using rondo::testing::run_communicators;

using Make = std::function<std::unique_ptr<Optimizer<float>>(std::vector<Parameter<float>*>)>;

/// Parameters that end within blocks, and one that several buckets' limits cannot hold.
std::vector<Parameter<float>> make_parameters() {
  std::vector<Parameter<float>> parameters;
  for (const std::vector<std::size_t>& shape : std::vector<std::vector<std::size_t>>{
           {50, 60}, {1}, {100, 200}, {1'024}, {7, 11}, {5'000}}) {
    const std::size_t count =
        std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
    parameters.emplace_back("p" + std::to_string(count), shape);
    for (std::size_t e = 0; e < count; ++e)
      parameters.back().value()[e] = static_cast<float>(std::sin(double(e + count)));
  }
  return parameters;
}

struct Outcome {
  std::vector<float> values;
  std::vector<double> norms;
  std::size_t state_bytes = 0;  // of this rank
};

/// Three steps on gradients that depend on step, rank and element.
Outcome train(Communicator& communicator, const Make& make, bool shard, bool deterministic,
              std::string_view compression = "none") {
  std::vector<Parameter<float>> parameters = make_parameters();
  std::vector<Parameter<float>*> pointers;
  std::vector<Buffer> values;
  for (Parameter<float>& parameter : parameters) {
    pointers.push_back(&parameter);
    values.emplace_back(parameter.value().span());
  }
  GradientReducer reducer(communicator, {.bucket_bytes = 30'000,
                                         .first_bucket_bytes = 4'000,
                                         .compression = parse_compression(compression),
                                         .clip_norm = 1.0,
                                         .shard = shard,
                                         .collective = {.deterministic = deterministic}});
  reducer.add_views<float>(pointers);
  const std::unique_ptr<Optimizer<float>> optimizer = make(pointers);
  std::vector<Slice> slices;
  for (std::size_t i = 0; i < pointers.size(); ++i) slices.push_back(reducer.slice(i));
  if (shard) optimizer->shard(slices);

  Outcome outcome;
  for (int step = 0; step < 3; ++step) {
    reducer.begin(1);
    for (std::size_t i = pointers.size(); i-- > 0;) {
      const std::span<float> gradient = pointers[i]->gradient();
      for (std::size_t e = 0; e < gradient.size(); ++e)
        gradient[e] = std::cos(0.37F * static_cast<float>(e % 997) +
                               static_cast<float>(step + communicator.rank()));
      reducer.ready(i);
    }
    reducer.finish();
    outcome.norms.push_back(reducer.stats().norm);
    optimizer->step(0.01);
    if (shard) reducer.gather(values);
  }
  for (const Parameter<float>& parameter : parameters)
    outcome.values.insert(outcome.values.end(), parameter.value().span().begin(),
                          parameter.value().span().end());
  for (const ArrayView& view : optimizer->state())
    if (!view.shape.empty()) outcome.state_bytes += view.bytes();
  for (const ArrayShard& shard_of_array : optimizer->sharded_state())
    outcome.state_bytes += shard_of_array.slice.count * sizeof(float);
  return outcome;
}

const std::vector<Make> kOptimizers{
    [](auto parameters) { return sgd<float>(parameters, {.momentum = 0.9, .nesterov = true}); },
    [](auto parameters) { return adam<float>(parameters); },
    [](auto parameters) { return adamw<float>(parameters); },
    [](auto parameters) {
      return rmsprop<float>(parameters, {.momentum = 0.5, .centered = true});
    }};

TEST(ShardedTraining, HasTheSameBitsInDeterministicMode) {
  for (const int ranks : {1, 2, 3, 5})
    for (const Make& make : kOptimizers)
      run_communicators(ranks, [&](Communicator& communicator) {
        const Outcome whole = train(communicator, make, false, true);
        const Outcome sharded = train(communicator, make, true, true);
        EXPECT_EQ(sharded.values, whole.values) << ranks << " ranks";
        EXPECT_EQ(sharded.norms, whole.norms);
      });
}

TEST(ShardedTraining, IsAsCloseAsTheOrderOfAdditionsAllowsElsewhere) {
  for (const int ranks : {2, 3, 5})
    run_communicators(ranks, [&](Communicator& communicator) {
      const Outcome whole = train(communicator, kOptimizers[0], false, false);
      const Outcome sharded = train(communicator, kOptimizers[0], true, false);
      for (std::size_t e = 0; e < whole.values.size(); ++e)
        ASSERT_NEAR(sharded.values[e], whole.values[e], 1e-6);
    });
}

TEST(ShardedTraining, HasWhatCompressionLeavesOfWholeGradients) {
  for (const char* compression : {"bf16", "f16", "topk:0.1", "powersgd:2"})
    for (const int ranks : {2, 3})
      run_communicators(ranks, [&](Communicator& communicator) {
        const Make& make = kOptimizers[0];
        const Outcome whole = train(communicator, make, false, true, compression);
        const Outcome sharded = train(communicator, make, true, true, compression);
        EXPECT_EQ(sharded.values, whole.values) << compression << ", " << ranks << " ranks";
        EXPECT_EQ(sharded.norms, whole.norms) << compression;
        EXPECT_NE(whole.values, train(communicator, make, false, true).values) << compression;
        const Outcome fast = train(communicator, make, true, false, compression);
        const Outcome fast_whole = train(communicator, make, false, false, compression);
        for (std::size_t e = 0; e < fast.values.size(); ++e)
          ASSERT_NEAR(fast.values[e], fast_whole.values[e], 1e-6) << compression;
      });
}

TEST(ShardedTraining, DividesTheStateByTheRanks) {
  for (const int ranks : {2, 3, 5})
    run_communicators(ranks, [&](Communicator& communicator) {
      const std::size_t whole = train(communicator, kOptimizers[1], false, false).state_bytes;
      std::size_t own = train(communicator, kOptimizers[1], true, false).state_bytes;
      const double share = static_cast<double>(whole) / ranks;
      EXPECT_NEAR(static_cast<double>(own), share, 0.25 * share) << "blocks are not cut";
      communicator.allreduce(std::span(&own, 1), ReduceOp::sum);
      EXPECT_EQ(own, whole);
    });
}

TEST(ShardedTraining, SkipsAStepThatOneShardFindsNotFinite) {
  run_communicators(3, [&](Communicator& communicator) {
    GradientReducer reducer(communicator, {.on_nonfinite = NonFinite::skip, .shard = true});
    reducer.add("w", 10'000, DataType::float32);
    for (const bool bad : {true, false}) {
      reducer.begin(1);
      auto* const gradient = static_cast<float*>(reducer.gradient(0).data);
      std::fill_n(gradient, 10'000, 1.0F);
      if (bad && communicator.rank() == 1) gradient[9'999] = INFINITY;
      reducer.ready(0);
      reducer.finish();
      EXPECT_EQ(reducer.stats().skip, bad);
    }
  });
}

TEST(ShardedTraining, RefusesToGatherWhatIsNotSharded) {
  run_communicators(2, [&](Communicator& communicator) {
    std::vector<float> value(10);
    const auto refused = [](GradientReducer& reducer, std::span<const Buffer> values) {
      rondo::testing::expect_error(ErrorCode::usage, {"gather()"}, [&] { reducer.gather(values); });
    };
    const std::vector<Buffer> values{std::span(value)};
    GradientReducer whole(communicator);
    whole.add("w", 10, DataType::float32);
    refused(whole, values);
    GradientReducer sharded(communicator, {.shard = true});
    sharded.add("w", 10, DataType::float32);
    refused(sharded, values);  // before a step
    sharded.begin(0);
    sharded.finish();
    refused(sharded, {});
    EXPECT_EQ(sharded.slice(0).count, communicator.rank() == 0 ? 0U : 10U);
  });
}

}  // namespace
}  // namespace rondo::train
