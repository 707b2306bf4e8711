#pragma once

#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include <rondo/rondo.hpp>
#include <rondo/train/train.hpp>

/// Prints a line on rank 0.
inline void say(const rondo::Communicator& world, const std::string& line) {
  if (world.rank() == 0) fmt::print("{}\n", line);
}

/// A trace begins before the command line is read as a whole: --trace FILE becomes RONDO_TRACE.
inline void take_trace_option(int argc, char** argv) {
  constexpr std::string_view kOption = "--trace";
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument(argv[i]);
    if (argument == kOption && i + 1 < argc)
      setenv("RONDO_TRACE", argv[i + 1], 1);
    else if (argument.starts_with("--trace="))
      setenv("RONDO_TRACE", argv[i] + kOption.size() + 1, 1);
  }
}

/// A program's main function on all ranks: reads the command line by parse(communicator, argc,
/// argv, status), which returns an optional of TrainingOptions or more, and calls train(world,
/// options). Returns the exit status.
template <class Parse, class Train>
int run_training_program(const char* name, int argc, char** argv, Parse parse, Train train) {
  take_trace_option(argc, argv);
  rondo::Environment mpi(argc, argv);
  rondo::Communicator control(MPI_COMM_WORLD);
  int status = 0;
  const auto options = parse(control, argc, argv, status);
  if (!options) return status;
  try {
    std::optional<rondo::Communicator> world;
    rondo::train::agree(control, [&] {  // the algorithm may be unknown
      world.emplace(MPI_COMM_WORLD, rondo::Options{.algorithm = options->algorithm});
    });
    rondo::train::limit_blas_threads(*world);
    train(*world, *options);
    return 0;
  } catch (const rondo::train::SharedError& error) {  // on all ranks alike
    if (control.rank() == 0) fmt::print(stderr, "{}: {}\n", name, error.what());
    return 1;
  }
}
