#include "explanation.hpp"

#include <iterator>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <rondo/error.hpp>

#include "units.hpp"

namespace rondo::tools {

using collectives::Choice;
using collectives::Collective;
using collectives::Request;

namespace {

constexpr std::size_t kLeast = 8;
constexpr std::size_t kMost = std::size_t{64} * 1024 * 1024;

Explained explained(const Request& request) {
  Explained row{request.collective, request.bytes, request.bytes, {}, {}, 0, {}};
  try {
    const Choice choice = collectives::select(request);
    row.path = name_of(choice.algorithm->path);
    row.algorithm = choice.algorithm->name;
    if (has_segments(*choice.algorithm)) row.segment_bytes = choice.segment_bytes;
    row.why = choice.source == collectives::Source::constants
                  ? fmt::format("constant: {}", choice.reason)
                  : std::string(choice.reason);
  } catch (const Error& error) {
    row.why = fmt::format("refused: {}", error.message());
  }
  return row;
}

bool alike(const Explained& a, const Explained& b) {
  const auto all_but_sizes = [](const Explained& row) {
    return std::tie(row.collective, row.path, row.algorithm, row.segment_bytes, row.why);
  };
  return all_but_sizes(a) == all_but_sizes(b);
}

std::string sizes_text(const Explained& row) {
  if (row.from_bytes == row.to_bytes) return bytes_text(row.from_bytes);
  return fmt::format("{} - {}", bytes_text(row.from_bytes), bytes_text(row.to_bytes));
}

}  // namespace

Explanation explain(const collectives::Placement& placement, const core::Settings& settings,
                    const collectives::TuningTable* tuning) {
  Request request = request_at(placement);
  request.tuning = tuning;
  request.vendor = true;  // the placement's transport is an MPI
  request.vendor_allowed = settings.vendor;
  request.deterministic = settings.deterministic;
  request.from_environment = settings.algorithm;
  Explanation explanation{placement, tuning != nullptr, {}};
  for (int i = 0; i < static_cast<int>(Collective::barrier); ++i) {
    request.collective = static_cast<Collective>(i);
    for (request.bytes = kLeast; request.bytes <= kMost; request.bytes *= 2) {
      Explained row = explained(request);
      if (!explanation.rows.empty() && alike(row, explanation.rows.back()))
        explanation.rows.back().to_bytes = row.to_bytes;
      else
        explanation.rows.push_back(std::move(row));
    }
  }
  return explanation;
}

std::string as_text(const Explanation& explanation) {
  std::string text = fmt::format(
      "{}; tuning file: {}\nsizes are powers of two, of the whole message\n\n{:<15}"
      "{:<20} {:<13}{:<23}{:<9} why\n",
      describe(explanation.placement),
      explanation.tuned ? "has measurements of these" : "none for these", "collective", "size",
      "path", "algorithm", "segment");
  for (const Explained& row : explanation.rows)
    fmt::format_to(std::back_inserter(text), "{:<15}{:<20} {:<13}{:<23}{:<9} {}\n",
                   name_of(row.collective), sizes_text(row), row.path.empty() ? "-" : row.path,
                   row.algorithm.empty() ? "-" : row.algorithm,
                   row.segment_bytes == 0 ? "-" : bytes_text(row.segment_bytes), row.why);
  return text;
}

std::string as_json(const Explanation& explanation) {
  const collectives::Placement& placement = explanation.placement;
  nlohmann::ordered_json json{{"transport", placement.transport},
                              {"ranks", placement.ranks},
                              {"nodes", placement.nodes},
                              {"lanes", placement.lanes},
                              {"shared_memory", placement.shares_memory},
                              {"tuned", explanation.tuned},
                              {"choices", nlohmann::ordered_json::array()}};
  for (const Explained& row : explanation.rows)
    json["choices"].push_back({{"collective", name_of(row.collective)},
                               {"from_bytes", row.from_bytes},
                               {"to_bytes", row.to_bytes},
                               {"path", row.path},
                               {"algorithm", row.algorithm},
                               {"segment_bytes", row.segment_bytes},
                               {"why", row.why}});
  return json.dump(2) + "\n";
}

}  // namespace rondo::tools
