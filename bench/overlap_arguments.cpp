#include "overlap_arguments.hpp"

#include <algorithm>

#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "bytes_option.hpp"

namespace rondo::bench {

namespace {

std::string check_impl(const std::string& impl) {
  const std::vector<std::string> known = exchange_names();
  if (std::find(known.begin(), known.end(), impl) != known.end() || polls_per_layer(impl) > 0)
    return {};
  return fmt::format(
      "'{}' is no implementation; there are {}, and iallreduce:K with K from 1 to 1000", impl,
      fmt::join(known, ", "));
}

/// A multiple of float32's size that MPI_Allreduce can still be told.
CLI::Validator as_gradient_bytes() {
  return tools::as_bytes() & CLI::Validator(
                                 [](const std::string& text) {
                                   constexpr std::size_t kMost = std::size_t{1} << 30;
                                   const std::size_t bytes = std::stoull(text);
                                   return bytes >= sizeof(float) && bytes <= kMost
                                              ? std::string()
                                              : std::string("must be from 4 to 1G bytes");
                                 },
                                 "");
}

void add_options(CLI::App& app, OverlapArguments& arguments) {
  app.add_option("--layers", arguments.shape.layers, "of the model (default 32)")
      ->check(CLI::Range(1, 10'000));
  app.add_option("--layer-bytes", arguments.shape.layer_bytes, "gradient of a layer (default 2M)")
      ->transform(as_gradient_bytes());
  app.add_option("--edge-bytes", arguments.shape.edge_bytes,
                 "gradient of the first and of the last layer (default 256K)")
      ->transform(as_gradient_bytes());
  app.add_option("--bucket-bytes", arguments.bucket_bytes,
                 "most of a bucket, of rondo and iallreduce (default 2M)")
      ->transform(tools::as_bytes());
  auto* ratio = app.add_option("--compute-ratio", arguments.compute_ratio,
                               "backward alone takes so many times as long as the first "
                               "implementation's communication alone (default 1)");
  ratio->check(CLI::Range(0.01, 1000.0));
  app.add_option("--compute-ms", arguments.compute_ms, "backward alone takes so long")
      ->check(CLI::Range(0.1, 1e6))
      ->excludes(ratio);
  app.add_option("--impl", arguments.impls,
                 "rondo (GradientReducer), each (an MPI_Allreduce for each parameter, after "
                 "backward), all (one for everything), iallreduce (an MPI_Iallreduce for each "
                 "bucket, an MPI_Testall after each layer), iallreduce:K (K of them during each "
                 "layer); default rondo,each,all,iallreduce")
      ->delimiter(',')
      ->check(CLI::Validator([](std::string& impl) { return check_impl(impl); }, ""))
      ->option_text("IMPL,…");
  auto* steps = app.add_option("--steps", arguments.budget.steps, "so many samples of each")
                    ->check(CLI::Range(1, 1'000'000));
  app.add_option("--seconds", arguments.budget.seconds,
                 "how long to measure, for all implementations together (default 20)")
      ->check(CLI::Range(0.0, 3600.0))
      ->excludes(steps);
  app.add_flag(
      "--bind", arguments.bind,
      "bind each rank to one processor, which is its rank modulo their number: for virtual "
      "hosts, each of which believes that all processors are its own");
  app.add_option("--json", arguments.json, "write the results here, too")->option_text("FILE");
}

}  // namespace

bool parse(int argc, char** argv, bool speaks, OverlapArguments& arguments, int& status) {
  CLI::App app(
      "Measures how much of the gradients' reduction hides behind a backward pass: Rondo's beside "
      "MPI's.");
  add_options(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    status = error.get_exit_code();
    if (speaks) app.exit(error);
    return false;
  }
  for (int i = 0; i < argc; ++i) arguments.command += (i == 0 ? "" : " ") + std::string(argv[i]);
  return true;
}

}  // namespace rondo::bench
