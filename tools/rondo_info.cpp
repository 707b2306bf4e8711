// rondo-info: what this Rondo is, what it runs on, which settings are in force, and what is chosen.
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <rondo/rondo.hpp>

#include "core/reduce.hpp"
#include "core/settings.hpp"
#include "device/group.hpp"
#include "device/runtime.hpp"
#include "engine/session.hpp"
#include "explanation.hpp"
#include "transport/mpi_info.hpp"

namespace {

// What the design has and a build may lack.
/// What there is of CUDA or NCCL, or what is missing for it.
struct Device {
  std::string_view name;
  std::string found;    // empty: nothing
  std::string missing;  // why
};

struct Node {
  std::string host;
  std::vector<rondo::Rank> ranks;
};

struct Setting {
  std::string_view name;
  std::string value;
  bool from_environment;
};

struct Info {
  std::string mpi;
  std::string thread_level;
  int ranks;
  std::vector<Node> nodes;
  unsigned processors;
  std::string instruction_set;
  std::vector<Setting> settings;
  std::vector<Device> devices;
};

using HostName = std::array<std::uint8_t, 64>;

std::string own_host() {
  std::array<char, HostName{}.size()> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

/// Collective: the host name of every rank.
std::vector<std::string> all_hosts(rondo::Communicator& world) {
  HostName own{};
  own_host().copy(reinterpret_cast<char*>(own.data()), own.size() - 1);
  std::vector<std::uint8_t> all(own.size() * static_cast<std::size_t>(world.size()));
  world.allgather(std::span<std::uint8_t>(own), std::span(all));

  std::vector<std::string> hosts;
  for (std::size_t begin = 0; begin < all.size(); begin += own.size())
    hosts.emplace_back(reinterpret_cast<const char*>(&all[begin]));
  return hosts;
}

/// Collective.
std::vector<Node> find_nodes(rondo::Communicator& world) {
  const std::vector<std::string> hosts = all_hosts(world);
  const rondo::transport::Topology& topology = world.session().transport().topology();
  std::vector<Node> nodes;
  for (int node = 0; node < topology.nodes(); ++node) {
    const std::vector<rondo::Rank>& ranks = topology.ranks_of(node);
    nodes.push_back({hosts[static_cast<std::size_t>(ranks.front())], ranks});
  }
  return nodes;
}

std::vector<Setting> settings_in_force(rondo::Communicator& world) {
  std::vector<Setting> settings;
  for (auto& [name, value] : world.session().settings().list()) {
    const char* given = std::getenv(std::string(name).c_str());
    settings.push_back({name, std::move(value), given != nullptr && *given != '\0'});
  }
  return settings;
}

Device look_for(std::string_view name, std::string (*find)()) {
  try {
    return {name, find(), ""};
  } catch (const rondo::Error& error) {
    return {name, "", error.what()};
  }
}

/// On this rank's machine.
std::vector<Device> find_devices() {
  return {
      look_for("CUDA",
               [] {
                 const int count = rondo::device::cuda_runtime().device_count();
                 return fmt::format("{} {}", count, count == 1 ? "device" : "devices");
               }),
      look_for("NCCL", [] { return std::string(rondo::device::cuda_runtime().groups().name()); })};
}

/// Collective.
Info find_out(rondo::Communicator& world) {
  return {
      .mpi = rondo::transport::mpi_library_version(),
      .thread_level = rondo::transport::mpi_thread_level(),
      .ranks = world.size(),
      .nodes = find_nodes(world),
      .processors = std::thread::hardware_concurrency(),
      .instruction_set = rondo::core::instruction_set(),
      .settings = settings_in_force(world),
      .devices = find_devices(),
  };
}

/// "0-3,6" for 0 1 2 3 6.
std::string as_ranges(std::span<const rondo::Rank> ranks) {
  std::string text;
  for (std::size_t begin = 0, end = 0; begin < ranks.size(); begin = end) {
    for (end = begin + 1; end < ranks.size() && ranks[end] == ranks[end - 1] + 1;) ++end;
    text += fmt::format("{}{}", text.empty() ? "" : ",", ranks[begin]);
    if (end - begin > 1) text += fmt::format("-{}", ranks[end - 1]);
  }
  return text;
}

void print_text(const Info& info) {
  fmt::print("rondo            {}\n", RONDO_VERSION_STRING);
  fmt::print("MPI              {}, {}\n", info.mpi, info.thread_level);
  fmt::print("instruction set  {}\n", info.instruction_set);
  fmt::print("processors       {}\n", info.processors);
  fmt::print("ranks            {} on {} {}\n", info.ranks, info.nodes.size(),
             info.nodes.size() == 1 ? "node" : "nodes");
  for (const Node& node : info.nodes) fmt::print("  {:<14} {}\n", node.host, as_ranges(node.ranks));
  fmt::print("\nsettings (* from the environment)\n");
  for (const Setting& setting : info.settings)
    fmt::print("{} {:<20} {}\n", setting.from_environment ? '*' : ' ', setting.name,
               setting.value.empty() ? "-" : setting.value);
  fmt::print("\ndevices\n");
  for (const Device& device : info.devices)
    fmt::print("  {:<20} {}\n", device.name,
               device.missing.empty() ? device.found : "none: " + device.missing);
}

void print_json(const Info& info) {
  nlohmann::ordered_json json{
      {"version", RONDO_VERSION_STRING},
      {"mpi", {{"library", info.mpi}, {"thread_level", info.thread_level}}},
      {"instruction_set", info.instruction_set},
      {"processors", info.processors},
      {"ranks", info.ranks},
  };
  for (const Node& node : info.nodes)
    json["nodes"].push_back({{"host", node.host}, {"ranks", node.ranks}});
  for (const Setting& setting : info.settings)
    json["settings"][std::string(setting.name)] = {{"value", setting.value},
                                                   {"from_environment", setting.from_environment}};
  for (const Device& device : info.devices)
    json["devices"].push_back(
        {{"name", device.name}, {"found", device.found}, {"missing", device.missing}});
  fmt::print("{}\n", json.dump(2));
}

struct Arguments {
  bool as_json = false;
  bool explain = false;
  int ranks = 0;  // 0: those that there are
  int nodes = 1;
};

void add_options(CLI::App& app, Arguments& arguments) {
  constexpr int kMost = 1'000'000;
  app.add_flag("--json", arguments.as_json, "Print one JSON object instead of text");
  auto* explain = app.add_flag("--explain", arguments.explain,
                               "Print which algorithm would be chosen for each size, and why");
  auto* ranks = app.add_option("--ranks", arguments.ranks,
                               "Explain for so many ranks instead of those that there are")
                    ->check(CLI::Range(1, kMost))
                    ->needs(explain);
  app.add_option("--nodes", arguments.nodes, "On so many nodes, evenly (default 1)")
      ->check(CLI::Range(1, kMost))
      ->needs(ranks);
}

/// The ranks that are asked about.
rondo::collectives::Placement placement_of(const Arguments& arguments,
                                           const rondo::engine::Session& session) {
  if (arguments.ranks == 0) return session.placement();
  return {session.transport().name(), arguments.ranks, arguments.nodes,
          arguments.ranks / arguments.nodes,
          session.settings().shm && arguments.nodes < arguments.ranks};
}

void print_explanation(const Arguments& arguments, const rondo::engine::Session& session) {
  const auto placement = placement_of(arguments, session);
  const auto explanation =
      rondo::tools::explain(placement, session.settings(), session.tuning().find(placement));
  fmt::print("{}", arguments.as_json ? rondo::tools::as_json(explanation)
                                     : rondo::tools::as_text(explanation));
}

int body(int argc, char** argv) {
  const rondo::Environment mpi(argc, argv);
  rondo::Communicator world(MPI_COMM_WORLD);

  CLI::App app("What this Rondo is, what it runs on, which settings are in force, what is chosen");
  Arguments arguments;
  add_options(app, arguments);
  try {
    app.parse(argc, argv);
    if (arguments.ranks != 0 && arguments.nodes > arguments.ranks)
      throw CLI::ValidationError("--nodes", "there must be a rank for each node");
  } catch (const CLI::ParseError& error) {
    return world.rank() == 0 ? app.exit(error) : error.get_exit_code();
  }

  const Info info = find_out(world);
  if (world.rank() != 0) return EXIT_SUCCESS;
  if (arguments.explain)
    print_explanation(arguments, world.session());
  else
    arguments.as_json ? print_json(info) : print_text(info);
  if (std::fflush(stdout) != 0)
    throw rondo::Error(rondo::ErrorCode::system, "standard output can't be written");
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) { return rondo::run_main(argc, argv, body); }
