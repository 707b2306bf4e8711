#include "collectives/selector.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <rondo/error.hpp>

#include "collectives/agreement.hpp"
#include "device/group.hpp"
#include "device/runtime.hpp"

namespace rondo::collectives {

namespace {

constexpr std::size_t kKiB = 1024;
constexpr std::size_t kTiny = 8 * kKiB;      // of trees: from here on halves overlap
constexpr std::size_t kSmall = 16 * kKiB;    // latency counts: fewest steps
constexpr std::size_t kMedium = 512 * kKiB;  // both count
constexpr std::size_t kMiB = 1024 * kKiB;
constexpr std::size_t kHierarchical = 64 * kKiB;
constexpr std::size_t kDeviceSmall = 256 * kKiB;  // not measured
constexpr std::size_t kSegment =
    60 * kKiB;  // whole and with its header below 64 KiB: MPIs send it at once over TCP
constexpr std::size_t kLongSegment = 2 * kMiB;  // pipelining would disturb these exchanges

const Algorithm* find(Collective collective, std::string_view name) {
  const auto matches = [&](const Algorithm& algorithm) {
    return algorithm.collective == collective && algorithm.name == name;
  };
  const auto all = all_algorithms();
  const auto found = std::find_if(all.begin(), all.end(), matches);
  return found == all.end() ? nullptr : &*found;
}

/// The one of a path that has one for each collective; null if the collective has none. Without a
/// search, since it is asked for at each call.
template <Path path>
const Algorithm* algorithm_of(Collective collective) {
  static const auto table = [] {
    std::array<const Algorithm*, kCollectives> by_collective{};
    for (const Algorithm& algorithm : all_algorithms())
      if (algorithm.path == path)
        by_collective[static_cast<std::size_t>(algorithm.collective)] = &algorithm;
    return by_collective;
  }();
  return table[static_cast<std::size_t>(collective)];
}

/// The one by devices that reach all ranks' memory; null if the collective has none.
const Algorithm* in_shots(const Request& request) {
  const bool small = request.bytes <= kDeviceSmall;
  return find(request.collective, small ? "device_one_shot" : "device_two_shot");
}

bool must_be_canonical(const Request& request) {
  return request.deterministic && reduces(request.collective);
}

/// Whether the transport's own collective keeps our contracts in this call.
bool vendor_keeps_contracts(const Request& request) {
  return !reduces(request.collective) ||
         (!request.scaled && transport::Vendor::keeps_contracts(request.op, request.type));
}

bool fits_vendor(const Request& request) {
  return !request.uneven &&
         request.bytes / size_of(request.type) <= transport::Vendor::kMostElements;
}

bool group_keeps_contracts(const Request& request) {
  return !reduces(request.collective) ||
         (!request.scaled &&
          device::Group::keeps_contracts(request.op, request.type, request.ranks, request.narrow));
}

/// Whether what an algorithm needs is here.
bool is_equipped(const Algorithm& algorithm, const Request& request) {
  switch (algorithm.path) {
    case Path::network:
      return true;
    case Path::piggyback:
      return request.piggyback &&
             request.bytes <= piggyback_limit(request.collective, request.ranks);
    case Path::node:
      return request.node;
    case Path::hierarchical:
      return request.hierarchical;
    case Path::vendor:
      return request.vendor && vendor_keeps_contracts(request) && fits_vendor(request);
    case Path::group:
      return request.group && group_keeps_contracts(request) && !request.uneven;
    case Path::peers:
      return request.peers && request.ranks <= device::Stream::kMostSources;
  }
  return true;
}

/// What an algorithm that isn't equipped lacks.
std::string obstacle(const Algorithm& algorithm, const Request& request) {
  switch (algorithm.path) {
    case Path::network:
      break;
    case Path::piggyback:
      if (!request.piggyback) return "serves ranks that send messages, and these share memory";
      return fmt::format("serves up to {} bytes among {} ranks, and these are {}",
                         piggyback_limit(request.collective, request.ranks), request.ranks,
                         request.bytes);
    case Path::node:
      return "needs RONDO_SHM on, and all ranks on one node";
    case Path::hierarchical:
      return "needs RONDO_SHM on, and several nodes with several ranks, and no narrow wire";
    case Path::vendor:
      if (!request.vendor)
        return "needs a transport with collectives of its own, such as MPI, and a blocking call";
      if (!fits_vendor(request))
        return fmt::format("serves blocks of one size, and up to {} elements",
                           transport::Vendor::kMostElements);
      return fmt::format(
          "does not keep the contracts for {}{} of {}: it serves sum and prod of 32 and 64 bits, "
          "and min and max of signed integers",
          name_of(request.op), request.scaled ? ", scaled," : "", name_of(request.type));
    case Path::group:
      if (!request.group)
        return "needs a blocking call on device memory, each rank on a device of its own, NCCL on "
               "all of them, and RONDO_NCCL on";
      if (request.uneven) return "serves blocks of one size";
      return fmt::format(
          "does not keep the contracts for {}{} of {}: it serves integers, and sum, prod and avg "
          "(of 2, 4, 8, … ranks) of floats, those of 16 bits on a narrow wire",
          name_of(request.op), request.scaled ? ", scaled," : "", name_of(request.type));
    case Path::peers:
      return fmt::format(
          "needs a blocking call on device memory that up to {} ranks of one node can share, as "
          "memory from a pool can't be",
          device::Stream::kMostSources);
  }
  return "";
}

/// Whether a name that came from outside may serve; refuses what can't be done.
const Algorithm* forced(const Request& request, Choice& choice) {
  const Algorithm* algorithm = nullptr;
  if (!request.per_call.empty()) {
    algorithm = &find_algorithm(request.collective, request.per_call);
    choice.reason = "asked for by the call";
  } else if (!request.from_environment.empty()) {
    algorithm = find(request.collective, request.from_environment);
    if (algorithm != nullptr && !is_equipped(*algorithm, request)) return nullptr;
    choice.reason = "asked for by RONDO_ALGORITHM";
  }
  if (algorithm == nullptr) return nullptr;
  if (!is_equipped(*algorithm, request))
    throw Error(ErrorCode::usage, fmt::format("the algorithm {} {}; leave the algorithm to "
                                              "the selector",
                                              algorithm->name, obstacle(*algorithm, request)));
  if (!can_serve(*algorithm, request))
    throw Error(
        ErrorCode::usage,
        fmt::format("the algorithm {} of {} can't give the canonical value of deterministic "
                    "mode; leave the algorithm to the selector, or turn deterministic off",
                    algorithm->name, name_of(request.collective)));
  return algorithm;
}

/// What serves messages of one size class, among so many ranks or more: an algorithm for any order
/// of adding, and one for the canonical order. The first that fits a request is taken.
struct Preference {
  Collective collective;
  int from_ranks;
  std::size_t up_to_bytes;
  std::string_view algorithm;
  std::string_view deterministic;
  std::string_view reason;
  std::size_t segment_bytes = kSegment;
};

constexpr int kAny = 1;
constexpr int kMany = kManyRanks;
constexpr int kVeryMany = 64;
constexpr std::string_view kRides = "small: on messages that are sent anyway";
constexpr std::string_view kTwoTrees = "two trees at once, pipelined";
constexpr std::size_t kAnySize = std::numeric_limits<std::size_t>::max();

using enum Collective;
// clang-format off
// With many ranks latency decides for longer. Where, was simulated: docs/simulation.md.
constexpr std::array kPreferences{
    Preference{allreduce, kAny, kAnySize, "piggyback", "butterfly_small", kRides},
    Preference{allreduce, kMany, 8 * kKiB, "recursive_quadrupling", "butterfly_small", "small, many ranks: fewest steps"},
    Preference{allreduce, kVeryMany, 64 * kMiB, "quartering_quadrupling", "butterfly", "many ranks: few steps, each byte sent twice", kLongSegment},
    Preference{allreduce, kMany, 16 * kMiB, "quartering_quadrupling", "butterfly", "many ranks: few steps, each byte sent twice", kLongSegment},
    Preference{allreduce, kAny, kSmall, "recursive_doubling", "butterfly_small", "small: fewest steps"},
    Preference{allreduce, 8, kMedium, "halving_doubling", "butterfly", "medium: few steps, each byte sent twice"},
    Preference{allreduce, 5, 32 * kKiB, "halving_doubling", "butterfly", "medium: few steps, each byte sent twice"},
    Preference{allreduce, 5, kAnySize, "ring", "butterfly", "large: fewest bytes on every link"},
    Preference{allreduce, 4, 64 * kKiB, "halving_doubling", "butterfly", "medium: few steps, each byte sent twice"},
    Preference{allreduce, kAny, kAnySize, "ring", "butterfly", "large: fewest bytes on every link"},
    Preference{reduce, kAny, kAnySize, "piggyback", "butterfly_small", kRides},
    Preference{reduce, kAny, kTiny, "binomial_tree", "butterfly_small", "small: fewest steps"},
    Preference{reduce, kAny, kSmall, "double_binary_tree", "butterfly_small", kTwoTrees},
    Preference{reduce, 5, kAnySize, "double_binary_tree", "butterfly", kTwoTrees},
    Preference{reduce, kAny, 64 * kKiB, "double_binary_tree", "butterfly", kTwoTrees},
    Preference{reduce, kAny, kAnySize, "chain", "butterfly", "large, few ranks: each sends once, pipelined"},
    Preference{broadcast, kAny, kTiny, "binomial_tree", "", "small: fewest steps"},
    Preference{broadcast, 5, kAnySize, "double_binary_tree", "", kTwoTrees},
    Preference{broadcast, kAny, 64 * kKiB, "double_binary_tree", "", kTwoTrees},
    Preference{broadcast, kAny, kAnySize, "chain", "", "large, few ranks: each sends once, pipelined"},
    Preference{reduce_scatter, kAny, kSmall, "direct", "butterfly_small", "small: one step"},
    Preference{reduce_scatter, kAny, kAnySize, "ring", "butterfly", "large: fewest bytes on every link"},
    Preference{allgather, kAny, kSmall, "bruck", "", "small: fewest steps"},
    Preference{allgather, kAny, kAnySize, "ring", "", "large: fewest bytes on every link"},
    Preference{all_to_all, kAny, kAnySize, "pairwise", "", "each block goes straight to its rank"},
    Preference{gather, kAny, kSmall, "binomial_tree", "", "small: fewest steps"},
    Preference{gather, kAny, kAnySize, "direct", "", "large: each byte sent once"},
    Preference{scatter, kAny, kSmall, "binomial_tree", "", "small: fewest steps"},
    Preference{scatter, kAny, kAnySize, "direct", "", "large: each byte sent once"},
};
// clang-format on

bool may_ride(const Request& request) {
  return request.piggyback && request.bytes <= piggyback_limit(request.collective, request.ranks);
}

const Preference& preferred(const Request& request) {
  const auto serves = [&](const Preference& preference) {
    return preference.collective == request.collective && request.ranks >= preference.from_ranks &&
           request.bytes <= preference.up_to_bytes &&
           (preference.reason != kRides || may_ride(request));
  };
  return *std::find_if(kPreferences.begin(), kPreferences.end(), serves);
}

/// The fastest of those that were measured and can serve here; null if there is none.
const Measured* fastest_measured(const Request& request) {
  if (request.tuning == nullptr) return nullptr;
  const MeasuredRange* range = request.tuning->find(request.collective, request.bytes);
  if (range == nullptr) return nullptr;
  const auto serves = [&](const Measured& measured) {
    const bool allowed = request.vendor_allowed || measured.algorithm->path != Path::vendor;
    return allowed && can_serve(*measured.algorithm, request);
  };
  const auto found = std::find_if(range->ranking.begin(), range->ranking.end(), serves);
  return found == range->ranking.end() ? nullptr : &*found;
}

}  // namespace

Request request_at(const Placement& placement) {
  Request request;
  request.ranks = placement.ranks;
  request.nodes = placement.nodes;
  request.node = placement.shares_memory && placement.nodes == 1;
  request.hierarchical = placement.shares_memory && placement.nodes > 1;
  request.piggyback = !request.node;
  return request;
}

bool can_serve(const Algorithm& algorithm, const Request& request) {
  return is_equipped(algorithm, request) &&
         (!must_be_canonical(request) || algorithm.is_canonical(request.ranks, request.nodes));
}

Choice select(const Request& request) {
  Choice choice;
  choice.segment_bytes = request.segment_bytes != 0 ? request.segment_bytes : kSegment;
  choice.algorithm = forced(request, choice);
  if (choice.algorithm != nullptr) {
    choice.source = Source::user;
    return choice;
  }
  // A tuning file knows host memory alone.
  if (const Algorithm* own = algorithm_of<Path::group>(request.collective);
      request.group && own != nullptr && can_serve(*own, request)) {
    choice.algorithm = own;
    choice.reason = "each rank has a device of its own";
    return choice;
  }
  if (const Algorithm* shots = request.peers ? in_shots(request) : nullptr;
      shots != nullptr && can_serve(*shots, request)) {
    choice.algorithm = shots;
    choice.reason = "all ranks reach each other's device memory";
    return choice;
  }
  if (const Measured* measured = fastest_measured(request)) {
    const bool segmented = request.segment_bytes == 0 && measured->segment_bytes != 0;
    return {measured->algorithm, segmented ? measured->segment_bytes : choice.segment_bytes,
            Source::tuning_file, "fastest in the tuning file"};
  }
  if (request.node) choice.algorithm = algorithm_of<Path::node>(request.collective);
  if (choice.algorithm != nullptr) {
    choice.reason = "all ranks on one node";
    return choice;
  }
  if (request.hierarchical && request.collective == allreduce && request.bytes >= kHierarchical) {
    choice.algorithm = find(allreduce, "hierarchical");
    choice.reason = "several ranks a node: fewest bytes between nodes";
    return choice;
  }
  const Preference& preference = preferred(request);
  choice.algorithm = &find_algorithm(request.collective, preference.algorithm);
  const bool canonical = must_be_canonical(request);
  if (canonical && !choice.algorithm->is_canonical(request.ranks, request.nodes))
    choice.algorithm = &find_algorithm(request.collective, preference.deterministic);
  if (request.segment_bytes == 0 && !canonical) choice.segment_bytes = preference.segment_bytes;
  choice.reason = canonical ? "deterministic mode" : preference.reason;
  return choice;
}

void check_algorithm_name(std::string_view name, std::string_view source) {
  if (name.empty()) return;
  const auto all = all_algorithms();
  const auto matches = [&](const Algorithm& algorithm) { return algorithm.name == name; };
  if (std::any_of(all.begin(), all.end(), matches)) return;
  std::vector<std::string_view> names;
  for (const Algorithm& algorithm : all) names.push_back(algorithm.name);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  throw Error(ErrorCode::usage, fmt::format("{} '{}': no such algorithm; there are {}", source,
                                            name, fmt::join(names, ", ")));
}

}  // namespace rondo::collectives
