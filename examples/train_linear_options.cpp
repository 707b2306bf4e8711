#include "train_linear_options.hpp"

#include <map>

#include <CLI/CLI.hpp>

namespace train = rondo::train;

namespace {

void add_data_options(CLI::App& app, LinearOptions& options) {
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
}

}  // namespace

std::optional<LinearOptions> parse_linear_options(const rondo::Communicator& world, int argc,
                                                  char** argv, int& status) {
  LinearOptions options;
  CLI::App app("Trains a linear model on all ranks of mpirun: the model that one process gives.",
               "train_linear");
  add_data_options(app, options);
  add_training_options(app, options);
  if (!parse_command_line(app, world, argc, argv, status)) return {};
  return options;
}
