#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <rondo/types.hpp>

#include "mpi_protocol.hpp"

namespace rondo::bench {

/// What the command line of allreduce_bench says.
struct Arguments {
  Collective collective = Collective::allreduce;
  std::size_t min_bytes = 8;
  bool min_is_given = false;
  std::size_t max_bytes = 64 * 1024 * 1024;
  std::size_t factor = 2;
  std::vector<DataType> types{DataType::float32};
  std::vector<ReduceOp> ops{ReduceOp::sum};
  std::vector<std::string> impls{"rondo", "rondo-shared", "mpi"};
  bool in_place = false;
  bool on_device = false;
  Budget budget;
  std::string json;
  std::string csv;
  std::string command;

  /// The sizes from min to max. From the first one with an element for each of `ranks` blocks,
  /// unless min is given.
  std::vector<std::size_t> sizes(int ranks) const;
  /// Whether anything but MPI itself, on the host, is measured.
  bool needs_rondo() const;
};

/// Of "rondo:ring", "ring"; else nothing.
std::string algorithm_of(const std::string& impl);

/// Reads the command line; prints help or what is wrong with it if `speaks`, and then returns false
/// with the exit status in `status`.
bool parse(int argc, char** argv, bool speaks, Arguments& arguments, int& status);

}  // namespace rondo::bench
