#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <rondo/rondo.hpp>
#include <rondo/train/train.hpp>

#include "program.hpp"
#include "training_options.hpp"

/// Calls train(T{}) with the type of elements that the options name.
template <class Train>
void with_element_type(const TrainingOptions& options, Train train) {
  if (options.dtype == DType::f64)
    train(double{});
  else
    train(float{});
}

/// One model's training: its parts, and how far it has come.
template <class T>
class Training {
 public:
  /// The sum of the samples' losses; writes its gradient with respect to the model's outputs. All
  /// of it lies in `place`.
  using Loss =
      std::function<double(std::span<const T> outputs, const rondo::train::PlacedBatch<T>& batch,
                           std::span<T> gradient, rondo::train::Compute& place)>;

  /// `world`, `options`, `model` and `loader` must outlive the training. `model_settings` are those
  /// beside the options' that a resumed run must share, `counted` the targets' name. Collective.
  Training(rondo::Communicator& world, const TrainingOptions& options,
           rondo::train::Layer<T>& model, rondo::train::Loader<T>& loader, Loss loss,
           std::uint64_t data_fingerprint, rondo::train::Settings model_settings = {},
           const char* counted = "samples")
      : world_(world),
        options_(options),
        model_(model),
        loader_(loader),
        loss_(std::move(loss)),
        counted_(counted),
        reducer_(world, reducer_options(options)),
        progress_(world.rank() == 0 ? rondo::train::Progress::detect_style()
                                    : rondo::train::Progress::Style::silent,
                  options.epochs, loader.batches(), counted) {
    rondo::train::agree(world, [&] {  // both may find an option out of range
      schedule_ = make_schedule(options, options.epochs * loader_.batches());
      optimizer_ = make_optimizer<T>(options, model_.parameters());
    });
    state_.settings = settings_of(options, schedule_, data_fingerprint);
    state_.settings.merge(model_settings);
    state_.notes = {{"ranks", fmt::to_string(world.size())},
                    {"bucket-mb", fmt::to_string(options.bucket_mb)}};
    model_.initialise(options.seed);
    rondo::train::agree(world, [&] { model_.move_to(place_of(world, options)); });
    reducer_.template add_views<T>(model_.parameters());
    if (options.dtype == DType::bf16) weights_.emplace(model_.parameters());
    if (options.zero) shard_optimizer();
    state_.arrays = arrays();
    state_.shards = optimizer_->sharded_state();
    state_.residuals = reducer_.residuals();
    if (!options.checkpoint.empty())
      rondo::train::check_unused(world, options.checkpoint, options.resume);
    if (options.resume.empty())
      rondo::train::broadcast_parameters(world, state_.arrays);
    else
      position_ = rondo::train::load_checkpoint(world, options.resume, state_);
    if (!options.checkpoint.empty()) checkpointer_.emplace(world, options.checkpoint, options.keep);
  }

  /// Trains to the last epoch, or to --max-steps; says how fast. Collective.
  void run() {
    rondo::train::MetricsFile metrics(world_, options_.metrics, position_.epoch);
    while (position_.epoch < options_.epochs && run_epoch()) {
      if (position_.samples == 0)  // and so there may be no step before this one either
        throw rondo::train::SharedError(
            rondo::ErrorCode::usage,
            fmt::format("all {} steps of epoch {} were skipped, since their gradients were not "
                        "finite; choose a lower --lr",
                        loader_.batches(), position_.epoch + 1));
      const double loss = position_.loss_sum / static_cast<double>(position_.samples);
      if (!std::isfinite(loss))
        throw rondo::train::SharedError(rondo::ErrorCode::usage,
                                        "the loss is not finite any more; choose a lower --lr");
      const double rate = schedule_.at(position_.step - 1);
      position_ = {.epoch = position_.epoch + 1, .step = position_.step};
      metrics.write({position_.epoch, position_.step, loss, rate, stopwatch_.rate(), epoch_times_});
      progress_.epoch(position_.epoch, loss, rate, stopwatch_.rate());
      if (options_.checkpoint_every == 0) save();
    }
    save();
    if (checkpointer_) checkpointer_->finish();
    if (reducer_.skipped() > 0)
      say(world_, fmt::format("{} steps were skipped, since their gradients were not finite",
                              reducer_.skipped()));
    say(world_, fmt::format("{:.0f} {}/s on {} ranks", total_.rate(), counted_, world_.size()));
    if (world_.size() > 1 && steps_ > 0) say(world_, communication());
  }

 private:
  /// How much of rank 0's communication its computing hid.
  std::string communication() const {
    const double ms_a_step = 1e3 / static_cast<double>(steps_);
    return fmt::format(
        "in a step gradients travelled for {:.3f} ms, and computing stood still for {:.3f} ms: "
        "overlap {:.0f}%",
        times_.communication * ms_a_step, times_.exposed * ms_a_step, 100 * times_.overlap());
  }

  /// Goes on with the current epoch; false if --max-steps ended it early.
  bool run_epoch() {
    loader_.start(position_.epoch, position_.batch);
    stopwatch_ = {};
    epoch_times_ = {};
    while (options_.max_steps == 0 || position_.step < options_.max_steps) {
      const auto batch = loader_.next();
      if (!batch) break;
      step(*batch);
      if (options_.checkpoint_every != 0 && position_.step % options_.checkpoint_every == 0) save();
    }
    return position_.batch == loader_.batches();
  }

  void step(const rondo::train::Batch<T>& batch) {
    double loss = 0.0;
    if (weights_) weights_->round();
    const std::size_t parts = options_.accumulate;
    for (std::size_t part = 0; part < parts; ++part) {
      const auto micro_batch = batch.part(part, parts);
      if (part + 1 < parts)
        reducer_.accumulate(micro_batch.weight());
      else
        reducer_.begin(micro_batch.weight());
      loss += forward_and_backward(micro_batch);
    }
    const std::uint64_t samples = reducer_.finish();
    if (weights_) weights_->restore();
    ++position_.batch;
    if (reducer_.stats().skip) return;
    optimizer_->step(schedule_.at(position_.step));
    if (options_.zero) reducer_.gather(values_);

    world_.allreduce(std::span(&loss, 1), rondo::ReduceOp::sum);
    position_.loss_sum += loss;
    position_.samples += samples;
    ++position_.step;
    stopwatch_.add(samples);
    total_.add(samples);
    epoch_times_ += reducer_.stats();
    times_ += reducer_.stats();
    ++steps_;
    progress_.step(position_.epoch + 1, position_.batch,
                   position_.loss_sum / static_cast<double>(position_.samples), stopwatch_.rate());
  }

  /// Leaves each rank the state of what it owns (ZeRO's first stage).
  void shard_optimizer() {
    std::vector<rondo::train::Slice> slices;
    for (rondo::train::Parameter<T>* parameter : model_.parameters()) {
      slices.push_back(reducer_.slice(slices.size()));
      values_.emplace_back(parameter->value().span());
    }
    optimizer_->shard(std::move(slices));
  }

  /// Returns the sum of the losses.
  double forward_and_backward(const rondo::train::Batch<T>& batch) {
    rondo::train::Compute& place = model_.place();
    const auto placed = batch_memory_.placed(place, batch);
    const auto outputs = model_.forward(
        placed.features, batch.samples(),
        {.training = true,
         .seed = options_.seed,
         .step = position_.step,
         .samples = batch.numbers,
         .precision = options_.dtype == DType::bf16 ? rondo::train::Precision::bfloat16
                                                    : rondo::train::Precision::full});
    if (gradient_.size() < outputs.size())
      gradient_ = rondo::train::Tensor<T>({outputs.size()}, place);
    const std::span<T> gradient = gradient_.span().first(outputs.size());
    const double loss = loss_(outputs, placed, gradient, place);
    model_.backward(gradient, [&](std::size_t i) { reducer_.ready(i); });
    return loss;
  }

  std::vector<rondo::train::ArrayView> arrays() {
    std::vector<rondo::train::ArrayView> views = optimizer_->state();
    for (rondo::train::Parameter<T>* parameter : model_.parameters())
      views.push_back(parameter->value().view(parameter->name()));
    for (const rondo::train::ArrayView& view : reducer_.state()) views.push_back(view);
    return views;
  }

  void save() {
    const std::pair now{position_.step, reducer_.skipped()};
    if (!checkpointer_ || saved_ == now) return;
    state_.residuals = reducer_.residuals();
    checkpointer_->save(position_, state_);
    saved_ = now;
  }

  rondo::Communicator& world_;
  const TrainingOptions& options_;
  rondo::train::Layer<T>& model_;
  rondo::train::Loader<T>& loader_;
  Loss loss_;
  const char* counted_;
  rondo::train::GradientReducer reducer_;
  std::optional<rondo::train::MasterWeights<T>> weights_;  // with bf16
  rondo::train::Progress progress_;
  rondo::train::Schedule schedule_;
  std::unique_ptr<rondo::train::Optimizer<T>> optimizer_;
  std::vector<rondo::Buffer> values_;  // of the parameters, with --zero
  rondo::train::TrainingState state_;
  rondo::train::Position position_;
  std::optional<rondo::train::Checkpointer> checkpointer_;
  std::optional<std::pair<std::uint64_t, std::uint64_t>> saved_;  // steps taken, and skipped
  rondo::train::BatchMemory<T> batch_memory_;
  rondo::train::Tensor<T> gradient_;   // of the loss with respect to the outputs
  rondo::train::Stopwatch stopwatch_;  // of the epoch
  rondo::train::Stopwatch total_;
  rondo::train::CommunicationTimes epoch_times_;
  rondo::train::CommunicationTimes times_;
  std::uint64_t steps_ = 0;  // of this run
};
