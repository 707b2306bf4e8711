#include "training_options.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

namespace train = rondo::train;

namespace {

const std::map<std::string, DType> kDTypes{
    {"f32", DType::f32}, {"f64", DType::f64}, {"bf16", DType::bf16}};

void add_learning_options(CLI::App& app, TrainingOptions& options) {
  using Shape = train::Schedule::Shape;
  static const std::map<std::string, Shape> shapes{
      {"constant", Shape::constant}, {"cosine", Shape::cosine}, {"step", Shape::step}};
  app.add_option("--test-fraction", options.test_fraction, "part of the samples kept for the test")
      ->check(CLI::Range(0.0, 0.99))
      ->capture_default_str();
  app.add_option("--epochs", options.epochs)
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000}))
      ->capture_default_str();
  app.add_option("--max-steps", options.max_steps, "stop after so many steps in all; 0: don't")
      ->capture_default_str();
  app.add_option("--batch-size", options.batch_size, "samples in a step, of all ranks together")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000'000}))
      ->capture_default_str();
  app.add_option("--optimizer", options.optimizer)
      ->check(CLI::IsMember({"sgd", "adam", "adamw", "rmsprop"}))
      ->capture_default_str();
  app.add_option("--lr", options.learning_rate, "learning rate")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  app.add_option("--momentum", options.momentum, "of sgd")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  app.add_flag("--nesterov", options.nesterov, "Nesterov momentum");
  app.add_option("--schedule", options.schedule, "of the learning rate: constant, cosine or step")
      ->transform(CLI::CheckedTransformer(shapes))
      ->default_str("cosine");
  app.add_option("--decay-every", options.decay_every, "steps between two decays, of step");
  app.add_option("--decay", options.decay, "what the rate is multiplied by, of step")
      ->capture_default_str();
  app.add_option("--warmup", options.warmup, "steps of linear warm-up")->capture_default_str();
  app.add_option("--weight-decay", options.weight_decay, "[0; adamw: 0.01]")
      ->check(CLI::Range(0.0, 1e6));
  app.add_option("--clip-norm", options.clip_norm, "the gradient's norm, at most; 0: any")
      ->check(CLI::Range(0.0, 1e300))
      ->capture_default_str();
  app.add_option("--dtype", options.dtype,
                 "f32, f64, or bf16: matrix products of bfloat16, weights of float32")
      ->transform(CLI::CheckedTransformer(kDTypes))
      ->default_str("f32");
  app.add_option("--seed", options.seed, "of the split and the order of the samples")
      ->capture_default_str();
}

void add_reduction_options(CLI::App& app, TrainingOptions& options) {
  using train::NonFinite;
  static const std::map<std::string, NonFinite> verdicts{
      {"propagate", NonFinite::propagate}, {"skip", NonFinite::skip}, {"stop", NonFinite::stop}};
  app.add_option("--bucket-mb", options.bucket_mb, "MiB of gradients reduced at once, at most")
      ->check(CLI::Range(0.001, 65536.0))
      ->capture_default_str();
  app.add_flag("--no-overlap", options.no_overlap,
               "reduce gradients before the backward pass goes on");
  app.add_option("--accumulate", options.accumulate,
                 "parts of a batch that go through the model one after another")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1'000'000}))
      ->capture_default_str();
  app.add_option("--on-nonfinite", options.on_nonfinite,
                 "what infinite gradients and NaNs do: propagate, skip the step, or stop")
      ->transform(CLI::CheckedTransformer(verdicts))
      ->default_str("propagate");
  app.add_flag("--zero", options.zero, "deal the optimizer's state out among the ranks");
  app.add_option("--hook", options.hook,
                 "how gradients travel: none, bf16, f16, topk[:FRACTION], powersgd[:RANK]")
      ->check([](const std::string& text) -> std::string {
        try {
          train::parse_compression(text);
          return {};
        } catch (const rondo::Error& error) {
          return std::string(error.message());
        }
      })
      ->capture_default_str();
}

void add_running_options(CLI::App& app, TrainingOptions& options) {
  app.add_option("--device", options.device, "where to compute: cpu, or cuda, a GPU")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->capture_default_str();
  app.add_option("--algorithm", options.algorithm, "all-reduce algorithm [chosen by size]");
  app.add_option("--checkpoint", options.checkpoint, "folder to save checkpoints to");
  app.add_option("--checkpoint-every", options.checkpoint_every,
                 "steps between two saves; 0: after each epoch")
      ->capture_default_str();
  app.add_option("--keep", options.keep, "newest checkpoints that are kept")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1'000'000}))
      ->capture_default_str();
  app.add_option("--resume", options.resume, "folder whose newest checkpoint to go on from");
  app.add_option("--metrics", options.metrics, "file for one line of JSON an epoch");
  app.add_option("--trace", options.trace, "file to see in Perfetto how steps went (RONDO_TRACE)");
}

}  // namespace

void add_training_options(CLI::App& app, TrainingOptions& options) {
  add_learning_options(app, options);
  add_reduction_options(app, options);
  add_running_options(app, options);
}

bool parse_command_line(CLI::App& app, const rondo::Communicator& world, int argc, char** argv,
                        int& status) {
  try {
    app.parse(argc, argv);
    return true;
  } catch (const CLI::ParseError& error) {
    status = error.get_exit_code();
    if (world.rank() == 0) app.exit(error);
    return false;
  }
}

train::Compute& place_of(const rondo::Communicator& world, const TrainingOptions& options) {
  if (options.device == "cpu") return train::Compute::host();
  if (options.zero || options.hook != "none")
    throw rondo::Error(rondo::ErrorCode::usage,
                       "--device cuda has neither --zero nor --hook yet; use --device cpu");
  return train::Compute::cuda(world.node_rank() % train::Compute::cuda_devices());
}

train::ReducerOptions reducer_options(const TrainingOptions& options) {
  return {.bucket_bytes = static_cast<std::size_t>(options.bucket_mb * (1 << 20)),
          .overlap = !options.no_overlap,
          .compression = train::parse_compression(options.hook),
          .on_nonfinite = options.on_nonfinite,
          .clip_norm = options.clip_norm,
          .shard = options.zero};
}

train::Schedule make_schedule(const TrainingOptions& options, std::uint64_t total_steps) {
  if (options.schedule == train::Schedule::Shape::step && options.decay_every == 0)
    throw rondo::Error(rondo::ErrorCode::usage,
                       "--schedule step needs --decay-every, the steps between two decays");
  const train::Schedule schedule{options.learning_rate, options.schedule,    options.warmup,
                                 total_steps,           options.decay_every, options.decay};
  schedule.check();
  return schedule;
}

template <class T>
std::unique_ptr<train::Optimizer<T>> make_optimizer(const TrainingOptions& options,
                                                    std::vector<train::Parameter<T>*> parameters) {
  const double decay = options.weight_decay.value_or(
      options.optimizer == "adamw" ? train::kAdamWDefaults.weight_decay : 0.0);
  if (options.optimizer == "adam")
    return train::adam<T>(std::move(parameters), {.weight_decay = decay});
  if (options.optimizer == "adamw")
    return train::adamw<T>(std::move(parameters), {.weight_decay = decay});
  if (options.optimizer == "rmsprop")
    return train::rmsprop<T>(std::move(parameters), {.weight_decay = decay});
  return train::sgd<T>(
      std::move(parameters),
      {.momentum = options.momentum, .weight_decay = decay, .nesterov = options.nesterov});
}

template std::unique_ptr<train::Optimizer<float>> make_optimizer(
    const TrainingOptions&, std::vector<train::Parameter<float>*>);
template std::unique_ptr<train::Optimizer<double>> make_optimizer(
    const TrainingOptions&, std::vector<train::Parameter<double>*>);

namespace {

std::string dtype_name(DType dtype) {
  return std::ranges::find(kDTypes, dtype, [](const auto& pair) { return pair.second; })->first;
}

std::string name_of(const TrainingOptions& options, const train::Schedule& schedule) {
  switch (schedule.shape) {
    case train::Schedule::Shape::constant:
      return "constant";
    case train::Schedule::Shape::cosine:
      return fmt::format("cosine over {} epochs", options.epochs);
    case train::Schedule::Shape::step:
      return fmt::format("{} times every {} steps", schedule.decay, schedule.decay_every);
  }
  return {};
}

}  // namespace

train::Settings settings_of(const TrainingOptions& options, const train::Schedule& schedule,
                            std::uint64_t data_fingerprint) {
  const bool sgd = options.optimizer == "sgd";
  return {{"data fingerprint", fmt::format("{:016x}", data_fingerprint)},
          {"test-fraction", fmt::to_string(options.test_fraction)},
          {"batch-size", fmt::to_string(options.batch_size)},
          {"seed", fmt::to_string(options.seed)},
          {"dtype", dtype_name(options.dtype)},
          {"optimizer", options.optimizer},
          {"momentum", sgd ? fmt::to_string(options.momentum) : "not used"},
          {"nesterov", sgd && options.nesterov ? "on" : "off"},
          {"weight-decay",
           options.weight_decay ? fmt::to_string(*options.weight_decay) : "the optimizer's own"},
          {"clip-norm", fmt::to_string(options.clip_norm)},
          {"on-nonfinite", options.on_nonfinite == train::NonFinite::skip ? "skip" : "not skip"},
          {"hook", train::to_string(train::parse_compression(options.hook))},
          {"lr", fmt::to_string(schedule.base)},
          {"warmup", fmt::to_string(schedule.warmup_steps)},
          {"schedule", name_of(options, schedule)}};
}
