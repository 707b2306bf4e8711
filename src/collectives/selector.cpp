#include "collectives/selector.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include <rondo/error.hpp>

namespace rondo::collectives {

namespace {

constexpr std::size_t kKiB = 1024;
constexpr std::size_t kSmall = 16 * kKiB;    // latency counts: fewest steps
constexpr std::size_t kMedium = 512 * kKiB;  // both count
constexpr std::size_t kSegment = 128 * kKiB;

const Algorithm* find(Collective collective, std::string_view name) {
  const auto matches = [&](const Algorithm& algorithm) {
    return algorithm.collective == collective && algorithm.name == name;
  };
  const auto all = algorithms();
  const auto found = std::find_if(all.begin(), all.end(), matches);
  return found == all.end() ? nullptr : &*found;
}

const Algorithm* first_deterministic(Collective collective) {
  const auto matches = [&](const Algorithm& algorithm) {
    return algorithm.collective == collective && algorithm.deterministic;
  };
  const auto all = algorithms();
  const auto found = std::find_if(all.begin(), all.end(), matches);
  return found == all.end() ? nullptr : &*found;
}

const Algorithm& first_of(Collective collective) {
  const auto matches = [&](const Algorithm& algorithm) {
    return algorithm.collective == collective;
  };
  const auto all = algorithms();
  return *std::find_if(all.begin(), all.end(), matches);
}

/// Whether a name that came from outside may serve; refuses what can't be done.
const Algorithm* forced(const Request& request, Choice& choice) {
  const Algorithm* algorithm = nullptr;
  if (!request.per_call.empty()) {
    algorithm = &find_algorithm(request.collective, request.per_call);
    choice.reason = "asked for by the call";
  } else if (!request.from_environment.empty()) {
    algorithm = find(request.collective, request.from_environment);
    choice.reason = "asked for by RONDO_ALGORITHM";
  }
  if (algorithm != nullptr && request.deterministic && reduces(request.collective) &&
      !algorithm->deterministic)
    throw Error(
        ErrorCode::usage,
        fmt::format("the algorithm {} of {} can't give the canonical value of deterministic "
                    "mode; leave the algorithm to the selector, or turn deterministic off",
                    algorithm->name, name_of(request.collective)));
  return algorithm;
}

std::string_view by_size(const Request& request, Choice& choice) {
  const bool small = request.bytes <= kSmall;
  switch (request.collective) {
    case Collective::allreduce:
      if (small) {
        choice.reason = "small: fewest steps";
        return "recursive_doubling";
      }
      if (request.bytes <= kMedium) {
        choice.reason = "medium: few steps, each byte sent twice";
        return "halving_doubling";
      }
      choice.reason = "large: fewest bytes per link";
      return "ring";
    default:
      choice.reason = "the collective's default";
      return "";
  }
}

}  // namespace

Choice select(const Request& request) {
  Choice choice;
  choice.segment_bytes = request.segment_bytes != 0 ? request.segment_bytes : kSegment;
  choice.algorithm = forced(request, choice);
  if (choice.algorithm != nullptr) return choice;
  if (request.deterministic && reduces(request.collective)) {
    choice.algorithm = first_deterministic(request.collective);
    choice.reason = "deterministic mode";
    if (choice.algorithm == nullptr)
      throw Error(ErrorCode::usage, fmt::format("{} has no deterministic algorithm; turn "
                                                "deterministic off for this call",
                                                name_of(request.collective)));
    return choice;
  }
  const std::string_view name = by_size(request, choice);
  const Algorithm* found = find(request.collective, name);
  choice.algorithm = found != nullptr ? found : &first_of(request.collective);
  return choice;
}

void check_algorithm_name(std::string_view name) {
  if (name.empty()) return;
  const auto all = algorithms();
  const auto matches = [&](const Algorithm& algorithm) { return algorithm.name == name; };
  if (std::any_of(all.begin(), all.end(), matches)) return;
  std::vector<std::string_view> names;
  for (const Algorithm& algorithm : all) names.push_back(algorithm.name);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  throw Error(ErrorCode::usage, fmt::format("RONDO_ALGORITHM={}: no such algorithm; there are {}",
                                            name, fmt::join(names, ", ")));
}

}  // namespace rondo::collectives
