// rondo-tune: measures the algorithms at this placement of ranks, and writes a tuning file.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <rondo/rondo.hpp>

#include "bytes_option.hpp"
#include "core/output_file.hpp"
#include "engine/session.hpp"
#include "tuner.hpp"
#include "units.hpp"

namespace {

using rondo::collectives::Collective;
using rondo::collectives::Measured;
using rondo::collectives::Tuning;
using rondo::tools::Tuned;
using rondo::tools::TuneRange;

/// What is measured follows none of these, and the first names what is to be written.
std::string take_from_environment() {
  const char* file = std::getenv("RONDO_TUNING_FILE");
  std::string path = file == nullptr || *file == '\0' ? "rondo-tuning.json" : file;
  for (const char* name : {"RONDO_TUNING_FILE", "RONDO_ALGORITHM", "RONDO_DETERMINISTIC"})
    unsetenv(name);
  return path;
}

constexpr std::array kTunable{Collective::allreduce, Collective::reduce, Collective::broadcast,
                              Collective::reduce_scatter, Collective::allgather};

std::map<std::string, Collective> tunable_by_name() {
  std::map<std::string, Collective> names;
  for (const Collective collective : kTunable) names.emplace(name_of(collective), collective);
  return names;
}

void add_options(CLI::App& app, TuneRange& range, std::string& output) {
  app.add_option("--output", output,
                 "the tuning file; measurements of other placements in it stay (default "
                 "$RONDO_TUNING_FILE, or rondo-tuning.json)")
      ->option_text("FILE");
  app.add_option("--collective", range.collectives, "what to measure (default all that follow)")
      ->delimiter(',')
      ->transform(CLI::CheckedTransformer(tunable_by_name()))
      ->option_text("NAME,…  allreduce, reduce, broadcast, reduce_scatter, allgather");
  app.add_option("--min", range.min_bytes, "smallest message (default 8)")
      ->transform(rondo::tools::as_bytes());
  app.add_option("--max", range.max_bytes, "largest message (default 64M)")
      ->transform(rondo::tools::as_bytes());
  app.add_option("--factor", range.factor, "each size is so many times the last (default 4)")
      ->check(CLI::Range(2, 1 << 20));
  app.add_option("--seconds", range.seconds, "how long to measure in all (default 20)")
      ->check(CLI::Range(0.1, 36'000.0));
}

/// What is wrong with the sizes, for so many ranks.
void check(const TuneRange& range, int ranks) {
  const auto refuse = [](const std::string& what) {
    throw rondo::Error(rondo::ErrorCode::usage, "rondo-tune: " + what);
  };
  if (ranks < 2) refuse("one rank has nothing to choose; start several with mpirun");
  if (range.min_bytes > range.max_bytes)
    refuse(fmt::format("--min {} is more than --max {}", range.min_bytes, range.max_bytes));
}

/// What the file holds already, if there is one. On rank 0.
Tuning existing(const std::string& path) {
  rondo::core::check_replaceable(path);
  return std::filesystem::exists(path) ? Tuning::read(path) : Tuning{};
}

std::string way_text(const Measured& way) {
  return has_segments(*way.algorithm) ? fmt::format("{} ({})", way.algorithm->name,
                                                    rondo::tools::bytes_text(way.segment_bytes))
                                      : std::string(way.algorithm->name);
}

void print_head(const rondo::collectives::Placement& placement) {
  fmt::print(
      "# {}\n# times in µs, of the slowest rank, on dirty buffers of float32; gain: the constants' "
      "choice over the fastest\n{:<15}{:>9}  {:<32}{:>11}  {:<32}{:>11} {:>6}\n",
      describe(placement), "collective", "size", "fastest (segment)", "time",
      "the constants' choice", "time", "gain");
}

void print(const Tuned& tuned) {
  fmt::print("{:<15}{:>9}  ", name_of(tuned.collective), rondo::tools::bytes_text(tuned.bytes));
  if (tuned.ranking.empty()) {
    fmt::print("no time left: raise --seconds\n");
  } else {
    const Measured& first = tuned.ranking.front();
    fmt::print("{:<32}{:>11.2f}  {:<32}{:>11.2f} {:>6.2f}\n", way_text(first), first.microseconds,
               way_text(tuned.by_constants), tuned.by_constants.microseconds,
               tuned.by_constants.microseconds / first.microseconds);
  }
  std::fflush(stdout);
}

int tune(rondo::Communicator& world, const TuneRange& range, const std::string& output) {
  const bool speaks = world.rank() == 0;
  check(range, world.size());
  Tuning tuning;
  if (speaks) {
    tuning = existing(output);
    print_head(world.session().placement());
  }
  rondo::tools::Tuner tuner(world, range);
  const auto results = tuner.run([&](const Tuned& tuned) {
    if (speaks) print(tuned);
  });
  if (!speaks) return EXIT_SUCCESS;
  tuning.set(world.session().placement(), table_of(results, range.factor));
  tuning.write(output);
  fmt::print("# written: {0}\n# to use it: RONDO_TUNING_FILE={0}\n", output);
  return EXIT_SUCCESS;
}

int body(int argc, char** argv) {
  std::string output = take_from_environment();
  const rondo::Environment mpi(argc, argv);
  rondo::Communicator world(MPI_COMM_WORLD);

  CLI::App app("Measures the algorithms at this placement of ranks, and writes a tuning file");
  TuneRange range{.collectives = {kTunable.begin(), kTunable.end()}};
  add_options(app, range, output);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return world.rank() == 0 ? app.exit(error) : error.get_exit_code();
  }
  return tune(world, range, output);
}

}  // namespace

int main(int argc, char** argv) { return rondo::run_main(argc, argv, body); }
