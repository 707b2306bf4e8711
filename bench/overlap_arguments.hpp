#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "backward.hpp"
#include "mpi_overlap_protocol.hpp"

namespace rondo::bench {

/// What the command line of overlap_bench says.
struct OverlapArguments {
  ModelShape shape;
  std::size_t bucket_bytes = std::size_t{2} << 20;
  double compute_ratio = 1;
  double compute_ms = 0;  // if not 0: instead of the ratio
  std::vector<std::string> impls{"rondo", "each", "all", "iallreduce"};
  OverlapBudget budget;
  bool bind = false;
  std::string json;
  std::string command;
};

/// Reads the command line; prints help or what is wrong with it if `speaks`, and then returns false
/// with the exit status in `status`.
bool parse(int argc, char** argv, bool speaks, OverlapArguments& arguments, int& status);

}  // namespace rondo::bench
