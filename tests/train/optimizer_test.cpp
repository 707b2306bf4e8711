#include <rondo/train/optimizer.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include <fmt/core.h>

#include <rondo/error.hpp>

#include "support/expect_error.hpp"
#include "train/golden.hpp"

namespace rondo::train {
namespace {

using nlohmann::json;

/// The parameters of a trajectory, and one optimizer on them.
template <class T>
struct Model {
  std::vector<Parameter<T>> parameters;

  Model(const json& shapes, const json& start) {
    for (std::size_t p = 0; p < shapes.size(); ++p) {
      parameters.emplace_back(fmt::format("p{}", p), shapes[p].get<std::vector<std::size_t>>());
      std::ranges::copy(start[p].get<std::vector<T>>(), parameters[p].value().data());
    }
  }
  Model() : Model({{2, 3}, {1}}, {{0.5, -1.25, 2.0, -0.75, 0.125, 1.5}, {-0.375}}) {}

  std::vector<Parameter<T>*> pointers() {
    std::vector<Parameter<T>*> result;
    for (Parameter<T>& parameter : parameters) result.push_back(&parameter);
    return result;
  }

  /// Sets the gradients from 64 times their values, one parameter's after another's.
  void set_gradients(const std::vector<int>& times_64) {
    auto next = times_64.begin();
    for (Parameter<T>& parameter : parameters)
      for (T& element : parameter.gradient()) element = static_cast<T>(*next++) / T{64};
  }

  std::vector<T> values() const {
    std::vector<T> all;
    for (const Parameter<T>& parameter : parameters)
      all.insert(all.end(), parameter.value().span().begin(), parameter.value().span().end());
    return all;
  }
};

AdamOptions adam_options(const json& options, AdamOptions result) {
  if (options.contains("betas")) {
    result.beta1 = options["betas"][0];
    result.beta2 = options["betas"][1];
  }
  result.epsilon = options.value("eps", result.epsilon);
  result.weight_decay = options.value("weight_decay", result.weight_decay);
  return result;
}

/// An option that the file does not name is left at the default.
template <class T>
std::unique_ptr<Optimizer<T>> make(const std::string& name, const json& options,
                                   std::vector<Parameter<T>*> parameters) {
  if (name == "adam") return adam<T>(std::move(parameters), adam_options(options, {}));
  if (name == "adamw")
    return adamw<T>(std::move(parameters), adam_options(options, kAdamWDefaults));
  if (name == "sgd") {
    SgdOptions sgd_options;
    sgd_options.momentum = options.value("momentum", sgd_options.momentum);
    sgd_options.weight_decay = options.value("weight_decay", sgd_options.weight_decay);
    sgd_options.nesterov = options.value("nesterov", sgd_options.nesterov);
    return sgd<T>(std::move(parameters), sgd_options);
  }
  RmspropOptions rms;
  rms.alpha = options.value("alpha", rms.alpha);
  rms.epsilon = options.value("eps", rms.epsilon);
  rms.weight_decay = options.value("weight_decay", rms.weight_decay);
  rms.momentum = options.value("momentum", rms.momentum);
  rms.centered = options.value("centered", rms.centered);
  return rmsprop<T>(std::move(parameters), rms);
}

template <class T>
class OptimizerOf : public ::testing::Test {};
using ElementTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(OptimizerOf, ElementTypes);

TYPED_TEST(OptimizerOf, FollowsPyTorchFor100Steps) {
  using T = TypeParam;
  const json file = testing::golden("optimizers.json");
  const auto gradients = file["gradients_times_64"].get<std::vector<std::vector<int>>>();
  int cases = 0;
  for (const json& one : file["cases"]) {
    if (one["dtype"] != name_of(data_type_of<T>)) continue;
    ++cases;
    Model<T> model(file["shapes"], file["start"]);
    const auto optimizer = make<T>(one["optimizer"], one["options"], model.pointers());
    const double rate = one["rate"];
    auto snapshot = one["snapshots"].begin();
    for (int step = 0; step < 100; ++step) {
      model.set_gradients(gradients[step]);
      optimizer->step(rate * (1.0 - step / 200.0));
      if ((*snapshot)["step"] != step + 1) continue;
      for (std::size_t p = 0; p < model.parameters.size(); ++p)
        testing::expect_near<T>(model.parameters[p].value().span(), (*snapshot)["values"][p],
                                one["optimizer"].get<std::string>() + one["options"].dump() +
                                    " step " + std::to_string(step + 1));
      ++snapshot;
    }
    EXPECT_EQ(snapshot, one["snapshots"].end());
  }
  EXPECT_EQ(cases, 15);
}

// What a checkpoint does: values and state of one run, written into a new model and optimizer.
TYPED_TEST(OptimizerOf, GoesOnBitForBitFromRestoredState) {
  using T = TypeParam;
  const json file = testing::golden("optimizers.json");
  const auto gradients = file["gradients_times_64"].get<std::vector<std::vector<int>>>();
  const auto run = [&](Optimizer<T>& optimizer, Model<T>& model, int first, int last) {
    for (int step = first; step < last; ++step) {
      model.set_gradients(gradients[step]);
      optimizer.step(0.01);
    }
  };
  for (const json& one : file["cases"]) {
    Model<T> straight;
    const auto whole = make<T>(one["optimizer"], one["options"], straight.pointers());
    run(*whole, straight, 0, 5);

    Model<T> resumed;
    const auto rest = make<T>(one["optimizer"], one["options"], resumed.pointers());
    for (std::size_t p = 0; p < resumed.parameters.size(); ++p)
      resumed.parameters[p].value() = straight.parameters[p].value();
    const auto from = whole->state();
    const auto to = rest->state();
    ASSERT_EQ(from.size(), to.size());
    for (std::size_t i = 0; i < to.size(); ++i) {
      ASSERT_EQ(to[i].name, from[i].name);
      std::copy_n(static_cast<const char*>(from[i].data), from[i].bytes(),
                  static_cast<char*>(to[i].data));
    }
    EXPECT_EQ(rest->steps(), 5);

    run(*whole, straight, 5, 10);
    run(*rest, resumed, 5, 10);
    EXPECT_EQ(resumed.values(), straight.values()) << one["optimizer"] << one["options"];
  }
}

/// Sharded optimizers of several ranks, each with a model of its own, that hand each other what
/// they updated.
template <class T>
struct ShardedRun {
  std::vector<Model<T>> models;
  std::vector<std::unique_ptr<Optimizer<T>>> optimizers;
  std::vector<std::vector<Slice>> slices;  // of each rank, of each parameter

  ShardedRun(const std::string& name, const json& options, std::size_t ranks) : models(ranks) {
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      slices.emplace_back();
      for (const Parameter<T>& parameter : models[rank].parameters) {
        const std::size_t begin = parameter.size() * rank / ranks;
        slices[rank].push_back({begin, parameter.size() * (rank + 1) / ranks - begin});
      }
      optimizers.push_back(make<T>(name, options, models[rank].pointers()));
      optimizers[rank]->shard(slices[rank]);
    }
  }
  void step(const std::vector<int>& gradients) {
    for (std::size_t rank = 0; rank < models.size(); ++rank) {
      models[rank].set_gradients(gradients);
      optimizers[rank]->step(0.01);
    }
    for (std::size_t rank = 0; rank < models.size(); ++rank)
      for (std::size_t p = 0; p < slices[rank].size(); ++p)
        for (Model<T>& other : models)
          std::copy_n(models[rank].parameters[p].value().data() + slices[rank][p].begin,
                      slices[rank][p].count,
                      other.parameters[p].value().data() + slices[rank][p].begin);
  }
};

TYPED_TEST(OptimizerOf, ShardedGivesTheSameBitsAndSharesItsState) {
  using T = TypeParam;
  const json file = testing::golden("optimizers.json");
  const auto gradients = file["gradients_times_64"].get<std::vector<std::vector<int>>>();
  for (const json& one : file["cases"]) {
    const std::string name = one["optimizer"];
    Model<T> alone;
    const auto whole = make<T>(name, one["options"], alone.pointers());
    ShardedRun<T> run(name, one["options"], 3);
    for (int step = 0; step < 10; ++step) {
      alone.set_gradients(gradients[step]);
      whole->step(0.01);
      run.step(gradients[step]);
    }
    std::size_t elements = 0;
    for (std::size_t rank = 0; rank < run.models.size(); ++rank) {
      EXPECT_EQ(run.models[rank].values(), alone.values()) << name << one["options"];
      EXPECT_EQ(run.optimizers[rank]->state().size(), 1U);
      for (const ArrayShard& shard : run.optimizers[rank]->sharded_state())
        elements += shard.slice.count;
    }
    EXPECT_EQ(elements, (whole->state().size() - 1) / 2 * 7);
  }
}

TEST(Optimizer, RefusesSlicesThatDoNotFit) {
  Model<double> model;
  const auto refused = [&](const std::vector<Slice>& slices) {
    rondo::testing::expect_error(ErrorCode::usage, {"one slice of each"},
                                 [&] { adam<double>(model.pointers())->shard(slices); });
  };
  refused({{0, 6}});
  refused({{0, 7}, {0, 1}});
  refused({{0, 6}, {2, 0}});
  const auto late = adam<double>(model.pointers());
  late->step(0.1);
  rondo::testing::expect_error(ErrorCode::usage, {"before its first step"}, [&] {
    late->shard({{0, 6}, {0, 1}});
  });
}

TEST(Optimizer, NamesItsState) {
  Model<double> model;
  const auto optimizer = adam<double>(model.pointers());
  std::vector<std::string> names;
  for (const ArrayView& view : optimizer->state()) names.push_back(view.name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"optimizer.step", "optimizer.mean.p0", "optimizer.mean.p1",
                                      "optimizer.square.p0", "optimizer.square.p1"}));
  EXPECT_EQ(optimizer->state()[0].type, DataType::int64);
  EXPECT_TRUE(optimizer->state()[0].shape.empty());
  EXPECT_EQ(optimizer->state()[1].shape, (std::vector<std::size_t>{2, 3}));
}

TEST(Optimizer, CenteredRmspropStaysFiniteWhenTheVarianceVanishes) {
  Model<float> model;
  const auto optimizer = rmsprop<float>(model.pointers(), {.alpha = 0.5, .centered = true});
  for (int step = 0; step < 200; ++step) {
    model.set_gradients({7, 11, 13, 17, 19, 23, 29});  // the same in every step
    optimizer->step(1e-12);
  }
  for (const float value : model.values()) EXPECT_TRUE(std::isfinite(value));
}

TEST(Optimizer, RefusesOptionsOutOfRange) {
  Model<double> model;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto refused = [](const std::function<void()>& make_one) {
    try {
      make_one();
    } catch (const Error& error) {
      return error.code() == ErrorCode::usage;
    }
    return false;
  };
  EXPECT_TRUE(refused([&] { sgd<double>(model.pointers(), {.nesterov = true}); }));
  EXPECT_TRUE(refused([&] { sgd<double>(model.pointers(), {.momentum = -0.1}); }));
  EXPECT_TRUE(refused([&] { sgd<double>(model.pointers(), {.weight_decay = nan}); }));
  EXPECT_TRUE(refused([&] { adam<double>(model.pointers(), {.beta1 = 1.0}); }));
  EXPECT_TRUE(refused([&] { adamw<double>(model.pointers(), {.beta2 = -0.5}); }));
  EXPECT_TRUE(refused([&] { adam<double>(model.pointers(), {.epsilon = -1e-8}); }));
  EXPECT_TRUE(refused([&] { rmsprop<double>(model.pointers(), {.alpha = 1.5}); }));
}

}  // namespace
}  // namespace rondo::train
