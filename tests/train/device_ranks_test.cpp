#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <rondo/train/broadcast.hpp>
#include <rondo/train/checkpoint.hpp>
#include <rondo/train/conv2d.hpp>
#include <rondo/train/cross_entropy.hpp>
#include <rondo/train/dropout.hpp>
#include <rondo/train/evaluate.hpp>
#include <rondo/train/flatten.hpp>
#include <rondo/train/linear.hpp>
#include <rondo/train/loader.hpp>
#include <rondo/train/max_pool2d.hpp>
#include <rondo/train/optimizer.hpp>
#include <rondo/train/placed.hpp>
#include <rondo/train/reducer.hpp>
#include <rondo/train/relu.hpp>
#include <rondo/train/residual.hpp>
#include <rondo/train/sequential.hpp>

#include "device/in_use.hpp"
#include "device/runtime_suite.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"
#include "support/thread_communicators.hpp"

// Ranks that train a small convolutional network in the memory of a device, as train_digits does,
// against the same ranks on the host.
namespace rondo::train {
namespace {

using rondo::testing::run_communicators;

constexpr std::size_t kClasses = 3;

LabelledData some_images() {
  LabelledData data;
  data.shape = {6, 7};
  for (std::size_t i = 0; i < 22; ++i) {
    data.labels.push_back(static_cast<std::uint8_t>(i % kClasses));
    for (std::size_t pixel = 0; pixel < 42; ++pixel)
      data.features.push_back(static_cast<std::uint8_t>((pixel * (i % kClasses + 2) + i) % 251));
  }
  data.scale = 1.0 / 255;
  return data;
}

Sequential<float> make_model() {
  const Window around{.size = 3, .stride = 1, .padding = 1};
  Conv2d<float> conv1("conv1", {1, 6, 7}, 4, around);
  Relu<float> relu1(conv1.outputs());
  MaxPool2d<float> pool1(conv1.output_shape(), {.size = 2, .stride = 2});
  Residual<float> same(Conv2d<float>("same", pool1.output_shape(), 4, around));
  Conv2d<float> conv2("conv2", pool1.output_shape(), 5, {.size = 2, .stride = 2, .padding = 1});
  const std::size_t features = conv2.outputs();
  return Sequential<float>(std::move(conv1), std::move(relu1), std::move(pool1), std::move(same),
                           std::move(conv2), Flatten<float>(features),
                           Dropout<float>("dropout", features, 0.25),
                           Linear<float>("head", features, kClasses));
}

/// What a rank gets out of a training.
struct Result {
  std::vector<double> losses;
  std::vector<float> values;
  double accuracy = 0.0;
  double norm = 0.0;
};

struct Variant {
  std::size_t parts = 1;  // micro-batches
  ReducerOptions reducer;
};

class Trainer {
 public:
  Trainer(Communicator& communicator, Compute& place, const Variant& variant)
      : communicator_(communicator),
        place_(place),
        variant_(variant),
        samples_(data_.samples()),
        reducer_(communicator, variant.reducer) {
    std::iota(samples_.begin(), samples_.end(), std::size_t{0});
    model_.initialise(static_cast<std::uint64_t>(communicator.rank()));
    model_.move_to(place);
    optimizer_ = adamw<float>(model_.parameters());
    reducer_.add_views<float>(model_.parameters());
    state_.arrays = optimizer_->state();
    for (const ArrayView& view : values_of<float>(model_.parameters()))
      state_.arrays.push_back(view);
    broadcast_parameters(communicator, state_.arrays);
  }

  TrainingState& state() { return state_; }

  void train(std::uint64_t epochs) {
    Loader<float> loader(data_, samples_, {8, 5, communicator_.rank(), communicator_.size()});
    for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
      loader.start(epoch);
      while (const auto batch = loader.next()) step(*batch);
    }
  }

  Result result() {
    Result result;
    result.losses = losses_;
    result.norm = reducer_.stats().norm;
    result.accuracy = evaluate<float>(communicator_, model_, data_, samples_).accuracy;
    model_.move_to(Compute::host());
    for (const Parameter<float>* parameter : model_.parameters())
      result.values.insert(result.values.end(), parameter->value().span().begin(),
                           parameter->value().span().end());
    return result;
  }

 private:
  void step(const Batch<float>& batch) {
    double loss = 0.0;
    for (std::size_t part = 0; part < variant_.parts; ++part) {
      const auto micro_batch = batch.part(part, variant_.parts);
      if (part + 1 < variant_.parts)
        reducer_.accumulate(micro_batch.samples());
      else
        reducer_.begin(micro_batch.samples());
      const auto placed = memory_.placed(place_, micro_batch);
      const Pass pass{.training = true, .seed = 1, .step = step_, .samples = micro_batch.numbers};
      const auto outputs = model_.forward(placed.features, micro_batch.samples(), pass);
      Tensor<float> gradient({outputs.size()}, place_);
      loss += cross_entropy<float>(outputs, placed.labels, gradient.span(), place_);
      model_.backward(gradient.span(), [&](std::size_t i) { reducer_.ready(i); });
    }
    reducer_.finish();
    optimizer_->step(0.01);
    losses_.push_back(loss);
    ++step_;
  }

  Communicator& communicator_;
  Compute& place_;
  Variant variant_;
  LabelledData data_ = some_images();
  std::vector<std::size_t> samples_;
  Sequential<float> model_ = make_model();
  std::unique_ptr<Optimizer<float>> optimizer_;
  GradientReducer reducer_;
  BatchMemory<float> memory_;
  TrainingState state_;
  std::uint64_t step_ = 0;
  std::vector<double> losses_;
};

class RanksOnDevice : public device::DeviceRuntime {
 protected:
  void SetUp() override {
    device::DeviceRuntime::SetUp();
    device::use(runtime_);
  }
  void TearDown() override { device::use(nullptr); }

  template <class Body>
  std::vector<Result> run(int ranks, bool on_host, Body body) {
    std::vector<Result> results(static_cast<std::size_t>(ranks));
    run_communicators(ranks, [&](Communicator& communicator) {
      if (on_host) {
        results[communicator.rank()] = body(communicator, Compute::host());
      } else {
        Compute place(*runtime_, 0);
        results[communicator.rank()] = body(communicator, place);
      }
    });
    return results;
  }

  void expect_same(const std::vector<Result>& got, const std::vector<Result>& expected) const {
    const double tolerance = GetParam() == "Host" ? 0.0 : 1e-4;
    for (std::size_t rank = 0; rank < got.size(); ++rank) {
      ASSERT_EQ(got[rank].losses.size(), expected[rank].losses.size());
      for (std::size_t i = 0; i < got[rank].losses.size(); ++i)
        EXPECT_NEAR(got[rank].losses[i], expected[rank].losses[i], tolerance) << "step " << i;
      ASSERT_EQ(got[rank].values.size(), expected[rank].values.size());
      for (std::size_t i = 0; i < got[rank].values.size(); ++i)
        ASSERT_NEAR(got[rank].values[i], expected[rank].values[i], tolerance) << "value " << i;
      EXPECT_NEAR(got[rank].norm, expected[rank].norm, tolerance);
      EXPECT_NEAR(got[rank].accuracy, expected[rank].accuracy, tolerance);
    }
  }
};

TEST_P(RanksOnDevice, TrainWhatTheyTrainOnTheHost) {
  const ReducerOptions small{.bucket_bytes = 512, .first_bucket_bytes = 64};
  ReducerOptions judged = small;
  judged.clip_norm = 0.5;
  judged.overlap = false;
  ReducerOptions wary = small;
  wary.on_nonfinite = NonFinite::stop;
  for (const auto& [ranks, variant] :
       {std::pair{1, Variant{1, small}}, {2, Variant{1, wary}}, {3, Variant{2, judged}}}) {
    const auto train = [&variant = variant](Communicator& communicator, Compute& place) {
      Trainer trainer(communicator, place, variant);
      trainer.train(1);
      return trainer.result();
    };
    expect_same(run(ranks, false, train), run(ranks, true, train));
  }
}

TEST_P(RanksOnDevice, SaveAndLoadCheckpointsThatAnyPlaceReads) {
  const rondo::testing::TemporaryFolder folder;
  const auto save = [&](const std::string& name) {
    return [&, name](Communicator& communicator, Compute& place) {
      Trainer trainer(communicator, place, {});
      trainer.train(1);
      Checkpointer checkpointer(communicator, folder.path(name));
      checkpointer.save({.epoch = 1}, trainer.state());
      checkpointer.finish();
      return trainer.result();
    };
  };
  const auto load = [&](const std::string& name) {
    return [&, name](Communicator& communicator, Compute& place) {
      Trainer trainer(communicator, place, {});
      load_checkpoint(communicator, folder.path(name), trainer.state());
      trainer.train(1);
      return trainer.result();
    };
  };
  expect_same(run(2, false, save("device")), run(2, true, save("host")));
  expect_same(run(2, false, load("host")), run(2, true, load("device")));
}

TEST_P(RanksOnDevice, RefuseWhatDevicesDontHaveYet) {
  run_communicators(1, [&](Communicator& communicator) {
    Compute place(*runtime_, 0);
    Linear<float> model("a", 2, 1);
    model.move_to(place);
    for (const ReducerOptions& options :
         {ReducerOptions{.compression = {.kind = Compression::Kind::bf16}},
          ReducerOptions{.shard = true}}) {
      GradientReducer reducer(communicator, options);
      rondo::testing::expect_error(ErrorCode::usage, {"neither sharded nor compressed"},
                                   [&] { reducer.add_views<float>(model.parameters()); });
    }
    GradientReducer reducer(communicator);
    reducer.add("other", 3, DataType::float32);
    rondo::testing::expect_error(ErrorCode::usage, {"all on one device"},
                                 [&] { reducer.add_views<float>(model.parameters()); });
  });
}

TEST_P(RanksOnDevice, RefuseGradientsThatLieElsewhere) {
  run_communicators(1, [&](Communicator& communicator) {
    Compute place(*runtime_, 0);
    Parameter<float> here("here", {3});
    Parameter<float> there("there", {3});
    there.move_to(place);
    for (auto parameters : {std::vector{&here, &there}, std::vector{&there, &here}}) {
      GradientReducer reducer(communicator);
      rondo::testing::expect_error(ErrorCode::usage, {"all on one device"},
                                   [&] { reducer.add_views<float>(parameters); });
    }
    GradientReducer copying(communicator);
    rondo::testing::expect_error(ErrorCode::usage, {"'framework' lies on a device"}, [&] {
      copying.add("framework", Buffer(there.value().data(), 3, DataType::float32));
    });
    GradientReducer reducer(communicator);
    reducer.add_views<float>(std::vector{&here});
    here.move_to(place);
    rondo::testing::expect_error(ErrorCode::usage, {"gradient of 'here'", "before add_views"},
                                 [&] { reducer.begin(1); });
  });
}

RONDO_FOR_EACH_RUNTIME(RanksOnDevice);

}  // namespace
}  // namespace rondo::train
