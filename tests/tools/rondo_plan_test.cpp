#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "collectives/registry.hpp"
#include "plan_drawing.hpp"
#include "plan_table.hpp"
#include "plan_view.hpp"
#include "units.hpp"

namespace rondo::tools {
namespace {

using collectives::Collective;
using collectives::find_algorithm;
using transport::Topology;

int count(const std::string& text, std::string_view what) {
  int found = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + what.size()))
    ++found;
  return found;
}

TEST(PlanTable, ShowsTheRing) {
  const Topology topology = Topology::spread(3);
  const PlanView view(find_algorithm(Collective::allreduce, "ring"), topology);
  EXPECT_EQ(table_of(view, 1),
            "rank 1\n"
            "  step  sends                       receives\n"
            "     1  block 1 → rank 2            block 0 ← rank 0, reduced\n"
            "     2  block 0 → rank 2            block 2 ← rank 0, reduced\n"
            "        finish block 2\n"
            "     3  block 2 → rank 2            block 1 ← rank 0\n"
            "     4  block 1 → rank 2            block 0 ← rank 0\n");
}

TEST(PlanTable, ShowsRelayedBlocks) {
  const Topology topology = Topology::spread(4);
  const PlanView view(find_algorithm(Collective::gather, "binomial_tree"), topology);
  EXPECT_EQ(table_of(view, 2),
            "rank 2\n"
            "  step  sends                       receives\n"
            "        copy block 2 from input to scratch\n"
            "     1                              block 3 ← rank 3, in scratch\n"
            "     2  blocks 2–3 → rank 0\n");
}

TEST(PlanDrawing, HasAnArrowForEachMessageAndTwoInTheLegend) {
  const Topology topology = Topology::spread(4);
  const PlanView view(find_algorithm(Collective::allreduce, "ring"), topology);
  const std::string svg = drawing_of(view, "");
  EXPECT_EQ(count(svg, "<polygon"), 4 * 6 + 2);
  EXPECT_EQ(count(svg, ">step "), 6);
  EXPECT_EQ(count(svg, ">rank "), 4);
}

TEST(PlanDrawing, EscapesWhatXmlWouldMisread) {
  EXPECT_EQ(xml_escaped("a<b & \"c\" > 'd'"), "a&lt;b &amp; &quot;c&quot; &gt; &apos;d&apos;");
  const Topology topology = Topology::spread(2);
  const PlanView view(find_algorithm(Collective::allreduce, "ring"), topology);
  const std::string svg = drawing_of(view, "1 < 2 & 3");
  EXPECT_NE(svg.find("1 &lt; 2 &amp; 3"), std::string::npos);
  EXPECT_EQ(svg.find("1 < 2"), std::string::npos);
}

TEST(PlanDrawing, DrawsAPlanWithoutMessages) {
  const Topology topology = Topology::spread(1);
  const PlanView view(find_algorithm(Collective::allreduce, "ring"), topology);
  EXPECT_EQ(count(drawing_of(view, ""), "<polygon"), 2);
}

TEST(Units, AreReadable) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(1536), "1.5 KiB");
  EXPECT_EQ(bytes_text(1 << 20), "1 MiB");
  EXPECT_EQ(time_text(0), "0 s");
  EXPECT_EQ(time_text(2.5e-6), "2.5 µs");
  EXPECT_EQ(time_text(1e-10), "0.1 ns");
}

/// What rondo-plan printed, and its exit status.
struct Result {
  int status;
  std::string output;
};

Result run(const std::string& arguments) {
  FILE* pipe = popen((std::string(RONDO_PLAN) + " " + arguments + " 2>&1").c_str(), "r");
  Result result;
  std::array<char, 4096> buffer;
  while (const std::size_t got = fread(buffer.data(), 1, buffer.size(), pipe))
    result.output.append(buffer.data(), got);
  result.status = WEXITSTATUS(pclose(pipe));
  return result;
}

void expect_refused(const std::string& arguments, const std::string& message) {
  const Result result = run(arguments);
  EXPECT_NE(result.status, 0) << arguments;
  EXPECT_NE(result.output.find(message), std::string::npos) << result.output;
}

TEST(RondoPlan, PrintsTablesAndCost) {
  const Result result = run("ring --ranks 4 --bytes 4kb --alpha 1e-6 --beta 0 --gamma 0");
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_EQ(count(result.output, "\nrank "), 4);
  EXPECT_NE(result.output.find("steps                6\n"), std::string::npos) << result.output;
  EXPECT_NE(result.output.find("bytes sent per rank  6 KiB\n"), std::string::npos);
  EXPECT_NE(result.output.find("simulated time       6 µs"), std::string::npos);
}

TEST(RondoPlan, ShowsOneRankAndLeavesManyOut) {
  EXPECT_EQ(count(run("ring --ranks 5 --rank 3").output, "\nrank "), 1);
  const Result many = run("recursive_doubling --ranks 100");
  EXPECT_EQ(count(many.output, "\nrank "), 16);
  EXPECT_NE(many.output.find("ranks 16 to 99 are left out"), std::string::npos);
}

TEST(RondoPlan, ShowsEveryAlgorithm) {
  for (const auto& algorithm : collectives::algorithms()) {
    const std::string arguments = std::string(algorithm.name) +
                                  " --ranks 6 --nodes 2 --collective " +
                                  std::string(name_of(algorithm.collective));
    EXPECT_EQ(run(arguments).status, 0) << arguments;
  }
}

TEST(RondoPlan, ListsTheAlgorithms) {
  const Result result = run("--list");
  EXPECT_EQ(result.status, 0);
  EXPECT_NE(result.output.find("allgather\n  ring"), std::string::npos) << result.output;
}

TEST(RondoPlan, WritesTheDrawing) {
  const auto file = std::filesystem::path(testing::TempDir()) / "rondo_plan_test.svg";
  EXPECT_EQ(run("ring --svg " + file.string()).status, 0);
  std::ostringstream svg;
  svg << std::ifstream(file).rdbuf();
  EXPECT_EQ(svg.str().rfind("<svg ", 0), 0u);
  EXPECT_EQ(count(svg.str(), "</svg>"), 1);
  std::filesystem::remove(file);
}

TEST(RondoPlan, RefusesWhatItCannotDoAndSaysWhy) {
  expect_refused("", "--list");
  expect_refused("rign", "it has: ring, recursive_doubling");
  expect_refused("ring --collective gather", "it has: binomial_tree, direct");
  expect_refused("ring --collective allreuce", "--collective");
  expect_refused("ring --ranks 0", "--ranks");
  expect_refused("ring --ranks four", "--ranks");
  expect_refused("ring --ranks 4 --rank 4", "the last is 3");
  expect_refused("ring --ranks 4 --nodes 5", "only 4 ranks");
  expect_refused("ring --bytes -1", "--bytes");
  expect_refused("ring --alpha -1", "--alpha");
  expect_refused("ring --alpha 1e-6 --wire 2e-6", "a part of --alpha");
  expect_refused("ring --ranks 10000", "million messages");
  expect_refused("ring --svg /nowhere/ring.svg", "/nowhere/ring.svg");
  expect_refused("ring --svg /dev/full", "/dev/full");
}

}  // namespace
}  // namespace rondo::tools
