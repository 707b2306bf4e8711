#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <rondo/communicator.hpp>
#include <rondo/train/train.hpp>

namespace CLI {
class App;
}

/// What a model computes in: bf16 is float32 whose matrix products take factors rounded to
/// bfloat16.
enum class DType { f32, f64, bf16 };

/// What every example's command line says about its training.
struct TrainingOptions {
  double test_fraction = 0.15;
  std::uint64_t epochs = 60;
  std::uint64_t max_steps = 0;
  std::size_t batch_size = 1024;
  std::string optimizer = "sgd";
  double learning_rate = 0.03;
  double momentum = 0.9;
  bool nesterov = false;
  rondo::train::Schedule::Shape schedule = rondo::train::Schedule::Shape::cosine;
  std::uint64_t warmup = 0;
  std::uint64_t decay_every = 0;
  double decay = 0.1;
  std::optional<double> weight_decay;
  DType dtype = DType::f32;
  std::uint64_t seed = 0;
  double bucket_mb = 25;
  bool no_overlap = false;
  bool zero = false;
  std::size_t accumulate = 1;
  double clip_norm = 0;
  rondo::train::NonFinite on_nonfinite = rondo::train::NonFinite::propagate;
  std::string hook = "none";
  std::string device = "cpu";
  std::string algorithm;
  std::string checkpoint;
  std::uint64_t checkpoint_every = 0;
  std::size_t keep = 3;
  std::string resume;
  std::string metrics;
  std::string trace;
};

/// Adds the options to a command line; those that are set already are the defaults.
void add_training_options(CLI::App& app, TrainingOptions& options);

/// Reads a command line. Prints help, or what is wrong, on rank 0 only. False when the program
/// shall end, with `status`.
bool parse_command_line(CLI::App& app, const rondo::Communicator& world, int argc, char** argv,
                        int& status);

/// Where a rank computes: the host, or the device that its place in its node gives it. Throws
/// rondo::Error(cuda) saying what is missing where there is no device, rondo::Error(usage) for
/// options that devices don't have.
rondo::train::Compute& place_of(const rondo::Communicator& world, const TrainingOptions& options);

/// How gradients are reduced. Throws rondo::Error(usage) for an unknown hook.
rondo::train::ReducerOptions reducer_options(const TrainingOptions& options);

/// The learning rate over `total_steps`.
rondo::train::Schedule make_schedule(const TrainingOptions& options, std::uint64_t total_steps);

/// The optimizer that the options name, for a model's parameters.
template <class T>
std::unique_ptr<rondo::train::Optimizer<T>> make_optimizer(
    const TrainingOptions& options, std::vector<rondo::train::Parameter<T>*> parameters);

/// What a resumed run must share with the one that was interrupted: all that changes a number.
rondo::train::Settings settings_of(const TrainingOptions& options,
                                   const rondo::train::Schedule& schedule,
                                   std::uint64_t data_fingerprint);
