#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace rondo::bench {

/// Where and how a benchmark ran.
struct Meta {
  std::string machine;
  int processors = 0;
  std::string mpi;
  std::string threads;  // MPI_THREAD_…
  std::string instruction_set;
  int ranks = 1;
  int nodes = 1;
  std::string rondo_version;
  std::string command;
  std::string memory = "host";  // where the buffers lie: host or cuda
};

/// Of a program whose ranks lie on so many nodes; MPI must be running.
Meta meta_here(int ranks, int nodes, std::string command);

/// One line of text.
std::string summary(const Meta& meta);
/// docs/benchmarks.md describes it.
nlohmann::json json_of(const Meta& meta);

}  // namespace rondo::bench
