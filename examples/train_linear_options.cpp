#include "train_linear_options.hpp"

#include <map>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

namespace train = rondo::train;

namespace {

void add_data_options(CLI::App& app, Options& options) {
  static const std::map<std::string, train::Missing> policies{{"error", train::Missing::error},
                                                              {"drop", train::Missing::drop},
                                                              {"mean", train::Missing::mean}};
  app.add_option("--data", options.data, "CSV file, plain or .gz [the diamonds that come with it]");
  app.add_option("--target", options.target, "column to predict")->capture_default_str();
  app.add_option("--categorical", options.categorical,
                 "column to read as categories although it holds numbers; may be repeated")
      ->allow_extra_args(false);
  app.add_option("--missing", options.missing,
                 "missing values: error, drop (the row) or mean (of the training rows)")
      ->transform(CLI::CheckedTransformer(policies))
      ->default_str("error");
  app.add_option("--test-fraction", options.test_fraction, "part of the rows kept for the test")
      ->check(CLI::Range(0.0, 0.99))
      ->capture_default_str();
}

void add_training_options(CLI::App& app, Options& options) {
  using Shape = train::Schedule::Shape;
  static const std::map<std::string, Shape> shapes{{"constant", Shape::constant},
                                                   {"cosine", Shape::cosine}};
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
  app.add_option("--schedule", options.schedule, "of the learning rate: constant or cosine")
      ->transform(CLI::CheckedTransformer(shapes))
      ->default_str("cosine");
  app.add_option("--warmup", options.warmup, "steps of linear warm-up")->capture_default_str();
  app.add_option("--weight-decay", options.weight_decay, "[0; adamw: 0.01]")
      ->check(CLI::Range(0.0, 1e6));
  app.add_option("--dtype", options.float64, "f32 or f64")
      ->transform(
          CLI::CheckedTransformer(std::map<std::string, bool>{{"f32", false}, {"f64", true}}))
      ->default_str("f32");
  app.add_option("--seed", options.seed, "of the split and the order of the samples")
      ->capture_default_str();
}

void add_running_options(CLI::App& app, Options& options) {
  app.add_option("--bucket-mb", options.bucket_mb, "MiB of gradients reduced at once, at most")
      ->check(CLI::Range(0.001, 65536.0))
      ->capture_default_str();
  app.add_option("--algorithm", options.algorithm, "all-reduce algorithm [chosen by size]");
  app.add_option("--checkpoint", options.checkpoint, "safetensors file to save to");
  app.add_option("--checkpoint-every", options.checkpoint_every,
                 "steps between two saves; 0: after each epoch")
      ->capture_default_str();
  app.add_option("--resume", options.resume, "checkpoint to go on from");
  app.add_option("--metrics", options.metrics, "file for one line of JSON an epoch");
}

}  // namespace

std::optional<Options> parse_options(const rondo::Communicator& world, int argc, char** argv,
                                     int& status) {
  Options options;
  CLI::App app("Trains a linear model on all ranks of mpirun: the model that one process gives.",
               "train_linear");
  add_data_options(app, options);
  add_training_options(app, options);
  add_running_options(app, options);
  try {
    app.parse(argc, argv);
    return options;
  } catch (const CLI::ParseError& error) {
    status = error.get_exit_code();
    if (world.rank() == 0) app.exit(error);
    return {};
  }
}

train::Schedule make_schedule(const Options& options, std::uint64_t total_steps) {
  train::Schedule schedule{options.learning_rate, options.schedule, options.warmup, total_steps};
  schedule.check();
  return schedule;
}

template <class T>
std::unique_ptr<train::Optimizer<T>> make_optimizer(const Options& options,
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
    const Options&, std::vector<train::Parameter<float>*>);
template std::unique_ptr<train::Optimizer<double>> make_optimizer(
    const Options&, std::vector<train::Parameter<double>*>);

train::Settings settings_of(const Options& options, const train::Schedule& schedule,
                            std::uint64_t data_fingerprint) {
  const bool cosine = schedule.shape == train::Schedule::Shape::cosine;
  const bool sgd = options.optimizer == "sgd";
  return {{"data fingerprint", fmt::format("{:016x}", data_fingerprint)},
          {"test-fraction", fmt::to_string(options.test_fraction)},
          {"batch-size", fmt::to_string(options.batch_size)},
          {"seed", fmt::to_string(options.seed)},
          {"dtype", options.float64 ? "f64" : "f32"},
          {"optimizer", options.optimizer},
          {"momentum", sgd ? fmt::to_string(options.momentum) : "not used"},
          {"nesterov", sgd && options.nesterov ? "on" : "off"},
          {"weight-decay",
           options.weight_decay ? fmt::to_string(*options.weight_decay) : "the optimizer's own"},
          {"lr", fmt::to_string(schedule.base)},
          {"warmup", fmt::to_string(schedule.warmup_steps)},
          {"schedule", cosine ? fmt::format("cosine over {} epochs", options.epochs) : "constant"}};
}
