// Linear regression on all ranks of mpirun, from a CSV file to a checked model.
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <rondo/rondo.hpp>
#include <rondo/train/train.hpp>

#include "shipped_data.hpp"
#include "train_linear_options.hpp"

namespace train = rondo::train;

namespace {

/// The samples as every rank has them, standardised, in two parts.
struct Data {
  train::Dataset samples;
  train::Split split;
  train::Standardization scale;
  std::uint64_t fingerprint = 0;
};

Data read_data(rondo::Communicator& world, const Options& options) {
  Data data;
  train::agree(world, [&] {
    const std::string path =
        options.data.empty() ? find_shipped_data("diamonds.csv.gz") : options.data;
    const train::Table table = train::read_csv(path, {options.missing, options.categorical});
    data.samples = train::make_dataset(table, options.target);
    data.split = train::split(data.samples.samples(), options.test_fraction, options.seed);
  });
  train::check_same_data(world, data.samples);
  data.fingerprint = data.samples.fingerprint();
  data.scale = train::standardize(world, data.samples, data.split.train);
  return data;
}

/// One model's training: its parts, and how far it has come.
template <class T>
class Training {
 public:
  Training(rondo::Communicator& world, const Options& options, const Data& data)
      : world_(world),
        options_(options),
        data_(data),
        loader_(data.samples, data.split.train,
                {options.batch_size, options.seed, world.rank(), world.size()}),
        model_("linear", data.samples.width(), 1),
        reducer_(world, {.bucket_bytes = static_cast<std::size_t>(options.bucket_mb * (1 << 20)),
                         .collective = {}}),
        progress_(
            world.rank() == 0 ? train::Progress::detect_style() : train::Progress::Style::silent,
            options.epochs, loader_.batches()) {
    train::agree(world, [&] {  // both may find an option out of range
      schedule_ = make_schedule(options, options.epochs * loader_.batches());
      optimizer_ = make_optimizer<T>(options, model_.parameters());
    });
    settings_ = settings_of(options, schedule_, data.fingerprint);
    model_.initialise(options.seed);
    reducer_.add_views<T>(model_.parameters());
    if (options.resume.empty())
      train::broadcast_parameters(world, state());
    else
      position_ = train::load_checkpoint(world, options.resume, settings_, state());
  }

  /// Trains to the last epoch, or to --max-steps.
  void run() {
    train::MetricsFile metrics(world_, options_.metrics, position_.epoch);
    while (position_.epoch < options_.epochs && run_epoch()) {
      const double loss = position_.loss_sum / static_cast<double>(position_.samples);
      const double rate = schedule_.at(position_.step - 1);
      if (!std::isfinite(loss))
        throw train::SharedError(rondo::ErrorCode::usage,
                                 "the loss is not finite any more; choose a lower --lr");
      position_ = {.epoch = position_.epoch + 1, .step = position_.step};
      metrics.write({position_.epoch, position_.step, loss, rate, stopwatch_.rate()});
      progress_.epoch(position_.epoch, loss, rate, stopwatch_.rate());
      if (options_.checkpoint_every == 0) save();
    }
    save();
  }

  /// Says on rank 0 how good the model is, and how far from the best there is.
  void report() {
    if (!data_.split.test.empty()) {
      const auto score = train::evaluate<T>(world_, model_, data_.samples, data_.split.test);
      say(fmt::format("test R² {:.6f}, RMSE {:.6g} (in units of {}, {} samples)", score.r2,
                      score.rmse * data_.scale.target_deviation, options_.target, score.samples));
    }
    const auto weight = model_.weight().value().span();
    std::vector<double> weights(weight.begin(), weight.end());
    weights.push_back(model_.bias().value()[0]);
    try {
      const auto exact = train::least_squares(world_, data_.samples, data_.split.train);
      say(fmt::format(
          "distance of the weights to the exact least-squares solution {:.3e} (relative)",
          train::relative_distance(weights, exact)));
    } catch (const train::SharedError& error) {
      say(error.what());  // such as columns that depend on each other: no harm to the model
    }
    say(fmt::format("{:.0f} samples/s on {} ranks", total_.rate(), world_.size()));
  }

 private:
  /// Goes on with the current epoch; false if --max-steps ended it early.
  bool run_epoch() {
    loader_.start(position_.epoch, position_.batch);
    stopwatch_ = {};
    while (options_.max_steps == 0 || position_.step < options_.max_steps) {
      const auto batch = loader_.next();
      if (!batch) break;
      step(*batch);
      if (options_.checkpoint_every != 0 && position_.step % options_.checkpoint_every == 0) save();
    }
    return position_.batch == loader_.batches();
  }

  void step(const train::Batch<T>& batch) {
    reducer_.begin(batch.samples());
    const auto predictions = model_.forward(batch.features, batch.samples());
    gradient_.resize(batch.samples());
    double loss = train::squared_error<T>(predictions, batch.targets, gradient_);
    model_.backward(gradient_, [&](std::size_t i) { reducer_.ready(i); });
    const std::uint64_t samples = reducer_.finish();
    optimizer_->step(schedule_.at(position_.step));

    world_.allreduce(std::span(&loss, 1), rondo::ReduceOp::sum);
    position_.loss_sum += loss;
    position_.samples += samples;
    ++position_.batch;
    ++position_.step;
    stopwatch_.add(samples);
    total_.add(samples);
    progress_.step(position_.epoch + 1, position_.batch,
                   position_.loss_sum / static_cast<double>(position_.samples), stopwatch_.rate());
  }

  /// Everything that the next step depends on, but for position_.
  std::vector<train::ArrayView> state() {
    std::vector<train::ArrayView> views = optimizer_->state();
    for (train::Parameter<T>* parameter : model_.parameters())
      views.push_back(parameter->value().view(parameter->name()));
    return views;
  }

  void save() {
    if (options_.checkpoint.empty() || saved_step_ == position_.step) return;
    train::save_checkpoint(world_, options_.checkpoint, position_, settings_, state());
    saved_step_ = position_.step;
  }

  void say(const std::string& line) const {
    if (world_.rank() == 0) fmt::print("{}\n", line);
  }

  rondo::Communicator& world_;
  const Options& options_;
  const Data& data_;
  train::Loader<T> loader_;
  train::Linear<T> model_;
  train::GradientReducer reducer_;
  train::Progress progress_;
  train::Schedule schedule_;
  std::unique_ptr<train::Optimizer<T>> optimizer_;
  train::Settings settings_;
  train::Position position_;
  std::optional<std::uint64_t> saved_step_;
  std::vector<T> gradient_;     // of the loss with respect to the predictions
  train::Stopwatch stopwatch_;  // of the epoch
  train::Stopwatch total_;
};

template <class T>
void train_model(rondo::Communicator& world, const Options& options, const Data& data) {
  Training<T> training(world, options, data);
  training.run();
  training.report();
}

int run(int argc, char** argv) {
  rondo::Environment mpi(argc, argv);
  rondo::Communicator control(MPI_COMM_WORLD);
  int status = 0;
  const std::optional<Options> options = parse_options(control, argc, argv, status);
  if (!options) return status;
  try {
    std::optional<rondo::Communicator> world;
    train::agree(control, [&] {  // the algorithm may be unknown
      world.emplace(MPI_COMM_WORLD, rondo::Options{.algorithm = options->algorithm});
    });
    train::limit_blas_threads(*world);
    const Data data = read_data(*world, *options);
    if (options->float64)
      train_model<double>(*world, *options, data);
    else
      train_model<float>(*world, *options, data);
    return 0;
  } catch (const train::SharedError& error) {  // on all ranks alike
    if (control.rank() == 0) fmt::print(stderr, "train_linear: {}\n", error.what());
    return 1;
  }
}

}  // namespace

int main(int argc, char** argv) { return rondo::run_main(argc, argv, run); }
