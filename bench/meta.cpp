#include "meta.hpp"

#include <fstream>
#include <string_view>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <rondo/version.hpp>

#include "core/reduce.hpp"
#include "transport/mpi_info.hpp"

namespace rondo::bench {

namespace {

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  constexpr std::string_view kKey = "model name";
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(kKey)) return line.substr(line.find(':') + 2);
  return "unknown processor";
}

}  // namespace

Meta meta_here(int ranks, int nodes, std::string command) {
  return {.machine = processor_name(),
          .processors = static_cast<int>(std::thread::hardware_concurrency()),
          .mpi = transport::mpi_library_version(),
          .threads = transport::mpi_thread_level(),
          .instruction_set = core::instruction_set(),
          .ranks = ranks,
          .nodes = nodes,
          .rondo_version = RONDO_VERSION_STRING,
          .command = std::move(command)};
}

std::string summary(const Meta& meta) {
  return fmt::format("{} ranks on {} node{}, {} processors here, {}; {} ({})", meta.ranks,
                     meta.nodes, meta.nodes == 1 ? "" : "s", meta.processors, meta.machine,
                     meta.mpi, meta.threads);
}

nlohmann::json json_of(const Meta& meta) {
  return {{"machine", meta.machine},
          {"processors", meta.processors},
          {"mpi", meta.mpi},
          {"mpi_threads", meta.threads},
          {"instruction_set", meta.instruction_set},
          {"ranks", meta.ranks},
          {"nodes", meta.nodes},
          {"rondo", meta.rondo_version},
          {"command", meta.command},
          {"memory", meta.memory}};
}

}  // namespace rondo::bench
