/// rondo-plan: prints an algorithm as a table, draws it, and says what it costs. Needs no MPI run.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <CLI/CLI.hpp>
#include <rondo/error.hpp>

#include "bytes_option.hpp"
#include "collectives/pieces.hpp"
#include "collectives/registry.hpp"
#include "collectives/simulate.hpp"
#include "collectives/verify.hpp"
#include "plan_drawing.hpp"
#include "plan_table.hpp"
#include "plan_view.hpp"
#include "units.hpp"

namespace {

using namespace rondo;
using collectives::Algorithm;
using collectives::Collective;
using collectives::Group;
using collectives::Layout;
using collectives::Scenario;
using tools::PlanView;
using transport::Topology;

struct Arguments {
  std::string algorithm;
  std::string collective = "allreduce";
  int ranks = 4;
  int nodes = 0;  // 0: as many as ranks
  int rank = -1;  // -1: all
  Scenario scenario{.bytes = 1 << 20, .cost = {.alpha = 2e-6, .beta = 1e-10, .gamma = 5e-11}};
  std::string svg;
  bool list = false;
};

/// The collectives that have algorithms, by name.
std::map<std::string, Collective> collectives_by_name() {
  std::map<std::string, Collective> names;
  for (const Algorithm& algorithm : collectives::algorithms())
    names.emplace(name_of(algorithm.collective), algorithm.collective);
  return names;
}

void add_options(CLI::App& app, Arguments& arguments) {
  app.add_option("algorithm", arguments.algorithm, "Its name, such as ring; --list shows all");
  app.add_option("--collective", arguments.collective, "What it does")
      ->check(CLI::IsMember(collectives_by_name()))
      ->capture_default_str();
  app.add_option("--ranks", arguments.ranks, "Number of ranks")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--nodes", arguments.nodes,
                 "Number of nodes that the ranks lie on, in order (default: one rank each)")
      ->check(CLI::PositiveNumber);
  app.add_option("--rank", arguments.rank, "Show this rank only")->check(CLI::NonNegativeNumber);
  Scenario& scenario = arguments.scenario;
  app.add_option("--bytes", scenario.bytes, "Size of the message, such as 4096, 64kb or 8mb")
      ->transform(tools::as_bytes())
      ->default_str("1mb");
  app.add_option("--segment", scenario.segment, "Largest message; 0 leaves every step whole")
      ->transform(tools::as_bytes())
      ->default_str("0");
  app.add_option("--window", scenario.window, "Segments in flight between two ranks")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_option("--alpha", scenario.cost.alpha, "Seconds per message")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--wire", scenario.cost.wire,
                 "Of alpha, seconds in which other messages may use the ports")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--beta", scenario.cost.beta, "Seconds per byte sent")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--gamma", scenario.cost.gamma, "Seconds per byte reduced")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--svg", arguments.svg, "Draw the plan into this file");
  app.add_flag("--list", arguments.list, "List the algorithms of every collective");
}

void check(Arguments& arguments) {
  if (arguments.nodes == 0) arguments.nodes = arguments.ranks;
  if (arguments.algorithm.empty())
    throw Error(ErrorCode::usage, "which algorithm? Name one, or use --list to see all");
  const collectives::CostModel& cost = arguments.scenario.cost;
  if (cost.wire > cost.alpha)
    throw Error(ErrorCode::usage, fmt::format("--wire {}: it is a part of --alpha, which is {}",
                                              cost.wire, cost.alpha));
  if (arguments.nodes > arguments.ranks)
    throw Error(ErrorCode::usage, fmt::format("--nodes {}: there are only {} ranks to lie on them",
                                              arguments.nodes, arguments.ranks));
  if (arguments.rank >= arguments.ranks)
    throw Error(ErrorCode::usage,
                fmt::format("--rank {}: with --ranks {} the last is {}", arguments.rank,
                            arguments.ranks, arguments.ranks - 1));
}

/// The ranks in order on the nodes, whose sizes differ by at most one.
Topology topology_of(const Arguments& arguments) {
  std::vector<int> node_of;
  for (long rank = 0; rank < arguments.ranks; ++rank)
    node_of.push_back(static_cast<int>(rank * arguments.nodes / arguments.ranks));
  return Topology(std::move(node_of));
}

/// Refuses what would take minutes and tens of gigabytes.
void check_effort(const Algorithm& algorithm, const Topology& topology, const Scenario& scenario) {
  constexpr std::size_t kMost = 5'000'000;
  const Group group{0, topology.size(), &topology};
  const Layout layout = Layout::even(scenario.bytes, algorithm.blocks(group));
  const collectives::Plan plan = algorithm.plan(group);
  std::size_t pieces = plan.steps().size();
  if (scenario.segment > 0)
    pieces += collectives::elements_sent(plan, layout) / scenario.segment * 2;
  const std::size_t effort = pieces * static_cast<std::size_t>(topology.size());
  if (effort > kMost)
    throw Error(
        ErrorCode::usage,
        fmt::format("{} among {} ranks has about {} million messages to follow, more than "
                    "{} million; use fewer ranks or a larger --segment, or the formula in "
                    "docs/algorithms.md",
                    algorithm.name, topology.size(), effort / 1'000'000, kMost / 1'000'000));
}

void print_list() {
  std::string previous;
  for (const Algorithm& algorithm : collectives::algorithms()) {
    const std::string collective(name_of(algorithm.collective));
    if (collective != previous) fmt::print("{}\n", collective);
    previous = collective;
    fmt::print("  {:<20}{}\n", algorithm.name,
               algorithm.deterministic ? "deterministic: one value on every topology" : "");
  }
}

void print_tables(const PlanView& view, const Arguments& arguments) {
  constexpr int kMostTables = 16;
  fmt::print("{}\n\n", title_of(view));
  if (arguments.rank >= 0) {
    fmt::print("{}\n", table_of(view, arguments.rank));
    return;
  }
  const int shown = std::min(arguments.ranks, kMostTables);
  for (Rank rank = 0; rank < shown; ++rank) fmt::print("{}\n", table_of(view, rank));
  if (shown < arguments.ranks)
    fmt::print("(ranks {} to {} are left out; --rank R shows one)\n\n", shown, arguments.ranks - 1);
}

std::string scenario_text(const Scenario& scenario) {
  const std::string segments =
      scenario.segment == 0 ? "whole steps"
                            : fmt::format("segments of {}, {} in flight",
                                          tools::bytes_text(scenario.segment), scenario.window);
  const std::string wire = scenario.cost.wire == 0
                               ? ""
                               : fmt::format(" (wire {})", tools::time_text(scenario.cost.wire));
  return fmt::format("{}, {}; α = {}{} per message, β = {} and γ = {} per byte",
                     tools::bytes_text(scenario.bytes), segments,
                     tools::time_text(scenario.cost.alpha), wire,
                     tools::time_text(scenario.cost.beta), tools::time_text(scenario.cost.gamma));
}

/// What the algorithm costs, in one line each.
struct Cost {
  int steps;
  std::string sent;
  double seconds;
};

Cost cost_of(const PlanView& view, const Scenario& scenario) {
  const Layout layout = Layout::even(scenario.bytes, view.plans.front().blocks());
  std::vector<std::size_t> sent;
  for (const auto& plan : view.plans) sent.push_back(elements_sent(plan, layout));
  const auto [least, most] = std::minmax_element(sent.begin(), sent.end());
  std::string text = tools::bytes_text(*least);
  if (text != tools::bytes_text(*most)) text += " to " + tools::bytes_text(*most);
  return {view.steps(), text, simulate(view.algorithm, view.topology, scenario).seconds};
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file)
    throw Error(ErrorCode::system, fmt::format("can't write {}: {}; choose another place for --svg",
                                               path, std::strerror(errno)));
}

void show(const Arguments& arguments) {
  const Algorithm& algorithm =
      find_algorithm(collectives_by_name().at(arguments.collective), arguments.algorithm);
  const Topology topology = topology_of(arguments);
  check_effort(algorithm, topology, arguments.scenario);
  const PlanView view(algorithm, topology);
  print_tables(view, arguments);
  const Cost cost = cost_of(view, arguments.scenario);
  const std::string scenario = scenario_text(arguments.scenario);
  fmt::print("steps                {}\n", cost.steps);
  fmt::print("bytes sent per rank  {}\n", cost.sent);
  fmt::print("simulated time       {}  ({})\n", tools::time_text(cost.seconds), scenario);
  if (arguments.svg.empty()) return;
  write_file(
      arguments.svg,
      drawing_of(view, fmt::format("steps: {}; {} sent per rank, {} simulated ({})", cost.steps,
                                   cost.sent, tools::time_text(cost.seconds), scenario)));
  fmt::print("drawn in             {}\n", arguments.svg);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Shows what an algorithm does: its plan for each rank, its cost, and a drawing.");
  add_options(app, arguments);
  CLI11_PARSE(app, argc, argv);
  try {
    if (arguments.list) {
      print_list();
      return 0;
    }
    check(arguments);
    show(arguments);
    if (std::fflush(stdout) != 0)
      throw Error(ErrorCode::system, fmt::format("can't print: {}", std::strerror(errno)));
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
