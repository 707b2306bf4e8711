// Linear regression on all ranks of mpirun, from a CSV file to a checked model.
#include <string>
#include <vector>

#include <fmt/core.h>

#include <rondo/rondo.hpp>
#include <rondo/train/train.hpp>

#include "program.hpp"
#include "shipped_data.hpp"
#include "train_linear_options.hpp"
#include "training.hpp"

namespace train = rondo::train;

namespace {

/// The samples as every rank has them, standardised, in two parts.
struct Data {
  train::Dataset samples;
  train::Split split;
  train::Standardization scale;
  std::uint64_t fingerprint = 0;
};

Data read_data(rondo::Communicator& world, const LinearOptions& options) {
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

/// Says on rank 0 how good the model is, and how far from the best there is.
template <class T>
void report(rondo::Communicator& world, const LinearOptions& options, const Data& data,
            train::Linear<T>& model) {
  if (!data.split.test.empty()) {
    const auto score = train::evaluate<T>(world, model, data.samples, data.split.test);
    say(world,
        fmt::format("test R² {:.6f}, RMSE {:.6g} (in units of {}, {} samples)", score.r2,
                    score.rmse * data.scale.target_deviation, options.target, score.samples));
  }
  model.move_to(train::Compute::host());
  const auto weight = model.weight().value().span();
  std::vector<double> weights(weight.begin(), weight.end());
  weights.push_back(model.bias().value()[0]);
  try {
    const auto exact = train::least_squares(world, data.samples, data.split.train);
    say(world,
        fmt::format("distance of the weights to the exact least-squares solution {:.3e} (relative)",
                    train::relative_distance(weights, exact)));
  } catch (const train::SharedError& error) {
    say(world, error.what());  // such as columns that depend on each other: no harm to the model
  }
}

template <class T>
void train_model(rondo::Communicator& world, const LinearOptions& options, const Data& data) {
  train::Linear<T> model("linear", data.samples.width(), 1);
  train::Loader<T> loader(data.samples, data.split.train,
                          {options.batch_size, options.seed, world.rank(), world.size()});
  const auto loss = [](std::span<const T> outputs, const train::PlacedBatch<T>& batch,
                       std::span<T> gradient, train::Compute& place) {
    return train::squared_error<T>(outputs, batch.targets, gradient, place);
  };
  Training<T> training(world, options, model, loader, loss, data.fingerprint);
  training.run();
  report(world, options, data, model);
}

void run(rondo::Communicator& world, const LinearOptions& options) {
  const Data data = read_data(world, options);
  with_element_type(options, [&]<class T>(T) { train_model<T>(world, options, data); });
}

}  // namespace

int main(int argc, char** argv) {
  return rondo::run_main(argc, argv, [](int count, char** values) {
    return run_training_program("train_linear", count, values, parse_linear_options, run);
  });
}
