#include "collectives/tuning.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <rondo/error.hpp>

#include "core/check.hpp"
#include "core/output_file.hpp"

namespace rondo::collectives {

using nlohmann::ordered_json;

namespace {

constexpr int kFormat = 1;
constexpr const char* kFormatKey = "rondo_tuning";

[[noreturn]] void refuse(const std::string& path, std::string_view what) {
  throw Error(ErrorCode::corrupt_file,
              fmt::format("'{}' can't be used as a tuning file: {}; measure again with rondo-tune, "
                          "or unset RONDO_TUNING_FILE",
                          path, what));
}

// ── Reading. What is wrong is thrown as text, to which parse() adds the file.

struct Fault {
  std::string text;
};

const ordered_json& member(const ordered_json& object, const char* key) {
  if (!object.is_object() || !object.contains(key))
    throw Fault{fmt::format("\"{}\" is missing", key)};
  return object[key];
}

std::size_t size_in(const ordered_json& object, const char* key) {
  const ordered_json& value = member(object, key);
  if (!value.is_number_unsigned()) throw Fault{fmt::format("\"{}\" is no size", key)};
  return value.get<std::size_t>();
}

int number_in(const ordered_json& object, const char* key) {
  const std::size_t value = size_in(object, key);
  if (value < 1 || value > 1'000'000'000) throw Fault{fmt::format("\"{}\" is out of range", key)};
  return static_cast<int>(value);
}

std::string text_in(const ordered_json& object, const char* key) {
  const ordered_json& value = member(object, key);
  if (!value.is_string()) throw Fault{fmt::format("\"{}\" is no text", key)};
  return value.get<std::string>();
}

const ordered_json& list_in(const ordered_json& object, const char* key) {
  const ordered_json& value = member(object, key);
  if (!value.is_array()) throw Fault{fmt::format("\"{}\" is no list", key)};
  return value;
}

Placement placement_in(const ordered_json& object) {
  const ordered_json& shares_memory = member(object, "shared_memory");
  if (!shares_memory.is_boolean()) throw Fault{"\"shared_memory\" is neither true nor false"};
  return {text_in(object, "transport"), number_in(object, "ranks"), number_in(object, "nodes"),
          number_in(object, "lanes"), shares_memory.get<bool>()};
}

Collective collective_in(const ordered_json& object) {
  const std::string name = text_in(object, "collective");
  for (int i = 0; i < kCollectives; ++i)
    if (name == name_of(static_cast<Collective>(i))) return static_cast<Collective>(i);
  throw Fault{fmt::format("there is no collective \"{}\"", name)};
}

Measured measured_in(const ordered_json& object, Collective collective) {
  Measured measured;
  try {
    measured.algorithm = &find_algorithm(collective, text_in(object, "algorithm"));
  } catch (const Error& error) {
    throw Fault{std::string(error.message())};
  }
  measured.segment_bytes = size_in(object, "segment_bytes");
  const ordered_json& time = member(object, "microseconds");
  if (!time.is_number()) throw Fault{"\"microseconds\" is no number"};
  measured.microseconds = time.get<double>();
  return measured;
}

void read_range(const ordered_json& object, TuningTable& table) {
  const Collective collective = collective_in(object);
  MeasuredRange range{size_in(object, "up_to_bytes"), {}};
  const auto before = table.ranges(collective);
  if (!before.empty() && before.back().up_to_bytes >= range.up_to_bytes)
    throw Fault{fmt::format("the sizes of {} do not ascend", name_of(collective))};
  for (const ordered_json& entry : list_in(object, "ranking"))
    range.ranking.push_back(measured_in(entry, collective));
  table.add(collective, std::move(range));
}

Tuning tuning_in(const ordered_json& document) {
  const int format = number_in(document, kFormatKey);
  if (format != kFormat)
    throw Fault{fmt::format("it has format {}, and this version of Rondo reads format {}", format,
                            kFormat)};
  Tuning tuning;
  for (const ordered_json& object : list_in(document, "placements")) {
    TuningTable table;
    for (const ordered_json& range : list_in(object, "measured")) read_range(range, table);
    tuning.set(placement_in(object), std::move(table));
  }
  return tuning;
}

// ── Writing

ordered_json json_of(Collective collective, const MeasuredRange& range) {
  ordered_json ranking = ordered_json::array();
  for (const Measured& measured : range.ranking)
    ranking.push_back({{"algorithm", std::string(measured.algorithm->name)},
                       {"segment_bytes", measured.segment_bytes},
                       {"microseconds", measured.microseconds}});
  return {{"collective", std::string(name_of(collective))},
          {"up_to_bytes", range.up_to_bytes},
          {"ranking", std::move(ranking)}};
}

ordered_json json_of(const Placement& placement, const TuningTable& table) {
  ordered_json measured = ordered_json::array();
  for (int i = 0; i < kCollectives; ++i)
    for (const MeasuredRange& range : table.ranges(static_cast<Collective>(i)))
      measured.push_back(json_of(static_cast<Collective>(i), range));
  return {{"transport", placement.transport},
          {"ranks", placement.ranks},
          {"nodes", placement.nodes},
          {"lanes", placement.lanes},
          {"shared_memory", placement.shares_memory},
          {"measured", std::move(measured)}};
}

}  // namespace

std::string describe(const Placement& placement) {
  const auto plural = [](int count) { return count == 1 ? "" : "s"; };
  return fmt::format(
      "{} rank{} on {} node{} ({} lane{}, {}, {})", placement.ranks, plural(placement.ranks),
      placement.nodes, plural(placement.nodes), placement.lanes, plural(placement.lanes),
      placement.shares_memory ? "shared memory" : "no shared memory", placement.transport);
}

const MeasuredRange* TuningTable::find(Collective collective, std::size_t bytes) const {
  const auto all = ranges(collective);
  const auto found = std::lower_bound(
      all.begin(), all.end(), bytes,
      [](const MeasuredRange& range, std::size_t size) { return range.up_to_bytes < size; });
  return found == all.end() ? nullptr : &*found;
}

void TuningTable::add(Collective collective, MeasuredRange range) {
  ranges_[static_cast<std::size_t>(collective)].push_back(std::move(range));
}

Tuning Tuning::parse(std::string_view text, const std::string& path) {
  try {
    return tuning_in(ordered_json::parse(text));
  } catch (const Fault& fault) {
    refuse(path, fault.text);
  } catch (const nlohmann::json::exception& error) {
    refuse(path, error.what());
  }
}

Tuning Tuning::read(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file.is_open() || (!(text << file.rdbuf()) && errno != 0))  // fails for an empty file too
    core::throw_system("read", path, errno != 0 ? errno : EIO);
  return parse(text.str(), path);
}

std::string Tuning::text() const {
  ordered_json placements = ordered_json::array();
  for (const auto& [placement, table] : tables_) placements.push_back(json_of(placement, table));
  return ordered_json{{kFormatKey, kFormat}, {"placements", std::move(placements)}}.dump(1) + "\n";
}

void Tuning::write(const std::string& path) const {
  const std::string contents = text();
  const std::array<std::string_view, 1> pieces{contents};
  core::replace_file(path, pieces);
}

const TuningTable* Tuning::find(const Placement& placement) const {
  const auto found = std::find_if(tables_.begin(), tables_.end(),
                                  [&](const auto& entry) { return entry.first == placement; });
  return found == tables_.end() ? nullptr : &found->second;
}

void Tuning::set(const Placement& placement, TuningTable table) {
  std::erase_if(tables_, [&](const auto& entry) { return entry.first == placement; });
  tables_.emplace_back(placement, std::move(table));
}

}  // namespace rondo::collectives
