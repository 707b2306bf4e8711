#include "collectives/tuning.hpp"

#include <cstdio>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "collectives/selector.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

namespace rondo::collectives {
namespace {

using enum Collective;
using nlohmann::json;
using testing::expect_error;

const Placement kHere{"Open MPI", 4, 2, 2, true};
const Placement kElsewhere{"MPICH", 4, 2, 2, true};

Measured measured(std::string_view name, std::size_t segment_bytes = 0, double microseconds = 1) {
  return {&find_algorithm(allreduce, name), segment_bytes, microseconds};
}

TuningTable table() {
  TuningTable table;
  table.add(allreduce, {1000, {measured("piggyback"), measured("recursive_doubling")}});
  table.add(allreduce,
            {100'000, {measured("ring", 9'999, 2.5), measured("butterfly", 5'000, 3.25)}});
  return table;
}

Tuning tuning() {
  Tuning tuning;
  tuning.set(kHere, table());
  return tuning;
}

Request request_of(std::size_t bytes, const TuningTable& table) {
  Request request = request_at(kHere);
  request.bytes = bytes;
  request.tuning = &table;
  return request;
}

TEST(Tuning, ReadsWhatItWrote) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.path("tuning.json");
  tuning().write(path);
  EXPECT_EQ(Tuning::read(path), tuning());
  EXPECT_EQ(Tuning::read(path).text(), tuning().text());
}

TEST(Tuning, HasATableForEachPlacement) {
  Tuning both = tuning();
  EXPECT_EQ(both.find(kElsewhere), nullptr);
  both.set(kElsewhere, {});
  EXPECT_EQ(*both.find(kHere), table());
  EXPECT_EQ(*both.find(kElsewhere), TuningTable{});
  both.set(kHere, {});
  EXPECT_EQ(*both.find(kHere), TuningTable{}) << "the latest counts";
}

TEST(Tuning, FindsTheRangeOfASize) {
  const TuningTable here = table();
  EXPECT_EQ(here.find(allreduce, 0)->up_to_bytes, 1000U);
  EXPECT_EQ(here.find(allreduce, 1000)->up_to_bytes, 1000U);
  EXPECT_EQ(here.find(allreduce, 1001)->up_to_bytes, 100'000U);
  EXPECT_EQ(here.find(allreduce, 100'001), nullptr);
  EXPECT_EQ(here.find(reduce, 1000), nullptr);
}

TEST(Tuning, DecidesWhereItHasMeasured) {
  const TuningTable here = table();
  const Choice choice = select(request_of(50'000, here));
  EXPECT_EQ(choice.algorithm->name, "ring");
  EXPECT_EQ(choice.segment_bytes, 9'999U);
  EXPECT_EQ(choice.source, Source::tuning_file);
  const Choice beyond = select(request_of(100'001, here));
  EXPECT_EQ(beyond.source, Source::constants);
  EXPECT_EQ(beyond.algorithm->name, "hierarchical") << "fixed constants";
}

TEST(Tuning, TheUsersWordGoesBefore) {
  const TuningTable here = table();
  Request request = request_of(50'000, here);
  request.segment_bytes = 77;
  EXPECT_EQ(select(request).segment_bytes, 77U);
  request.from_environment = "binomial_tree";
  EXPECT_EQ(select(request).algorithm->name, "binomial_tree");
  EXPECT_EQ(select(request).source, Source::user);
}

TEST(Tuning, PassesOverWhatCannotServe) {
  const TuningTable here = table();
  Request request = request_of(1000, here);
  request.piggyback = false;
  EXPECT_EQ(select(request).algorithm->name, "recursive_doubling") << "the next in the ranking";
  request.bytes = 50'000;
  request.deterministic = true;
  EXPECT_EQ(select(request).algorithm->name, "butterfly") << "the fastest canonical one";
  request.bytes = 1000;
  EXPECT_EQ(select(request).source, Source::constants) << "none is canonical";
}

TEST(Tuning, ChoosesTheVendorsCollectiveOnlyIfItIsAllowed) {
  TuningTable here;
  here.add(allreduce, {1000, {measured("vendor"), measured("ring")}});
  Request request = request_of(1000, here);
  request.vendor = true;
  EXPECT_EQ(select(request).algorithm->name, "ring");
  request.vendor_allowed = true;
  EXPECT_EQ(select(request).algorithm->name, "vendor");
  request.op = ReduceOp::max;
  EXPECT_EQ(select(request).algorithm->name, "ring") << "it may lose a NaN";
}

/// The file with one thing changed, as text.
template <class Change>
std::string changed(Change change) {
  json document = json::parse(tuning().text());
  change(document);
  return document.dump();
}

TEST(Tuning, RefusesWhatIsNoTuningFileAndNamesIt) {
  const std::string whole = tuning().text();
  for (const std::string& text :
       {std::string{}, std::string("{}"), std::string("[]"), std::string("null"),
        whole.substr(0, whole.size() / 2), whole + "x",
        std::string("\x7f"
                    "ELF")})
    expect_error(ErrorCode::corrupt_file, {"'some.json'", "rondo-tune"},
                 [&] { Tuning::parse(text, "some.json"); });
}

TEST(Tuning, RefusesWhatThisVersionDoesNotKnowAndSaysWhat) {
  const auto refused = [](const std::string& text, const std::string& why) {
    expect_error(ErrorCode::corrupt_file, {"'some.json'", why},
                 [&] { Tuning::parse(text, "some.json"); });
  };
  refused(changed([](json& d) { d["rondo_tuning"] = 2; }), "format 2");
  const auto in_range = [](const char* key, const json& value) {
    return changed([&](json& d) { d["placements"][0]["measured"][0][key] = value; });
  };
  refused(in_range("collective", "allgarble"), "allgarble");
  refused(in_range("up_to_bytes", -1), "up_to_bytes");
  refused(in_range("up_to_bytes", 100'000), "ascend");
  refused(in_range("ranking", "ring"), "ranking");
  const auto in_entry = [](const char* key, const json& value) {
    return changed([&](json& d) { d["placements"][0]["measured"][0]["ranking"][0][key] = value; });
  };
  refused(in_entry("algorithm", "rings"), "rings");
  refused(in_entry("segment_bytes", "1"), "segment_bytes");
  refused(in_entry("microseconds", nullptr), "microseconds");
  refused(changed([](json& d) { d["placements"][0]["ranks"] = 0; }), "ranks");
  refused(changed([](json& d) { d["placements"][0].erase("lanes"); }), "lanes");
}

TEST(Tuning, NamesAFileThatCannotBeRead) {
  const testing::TemporaryFolder folder;
  expect_error(ErrorCode::system, {"there-is-none"},
               [&] { Tuning::read(folder.path("there-is-none")); });
  expect_error(ErrorCode::system, {"'/'"}, [] { Tuning::read("/"); });
}

}  // namespace
}  // namespace rondo::collectives
