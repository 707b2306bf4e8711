#include "support/conformance_lists.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "support/covering_array.hpp"
#include "support/pattern.hpp"
#include "transport/vendor.hpp"

namespace rondo::testing {

using collectives::has_root;
using collectives::reduces;

namespace {

constexpr std::array kCollectives{
    Collective::allreduce,      Collective::reduce,    Collective::broadcast,
    Collective::reduce_scatter, Collective::allgather, Collective::all_to_all,
    Collective::gather,         Collective::scatter,   Collective::barrier};

// Of elements in a message, and in a rank's block. Between two ranks, too, both are too long for a
// node's small way.
constexpr std::size_t kLargePrime = 10'007;
constexpr std::size_t kLargePrimeBlock = 2'053;

constexpr double kScale = 1.0 / 3.0;
constexpr std::array<std::size_t, 3> kSmallSegments{0, 24, 100};     // bytes
constexpr std::array<std::size_t, 3> kLargeSegments{0, 1021, 4096};  // bytes

/// An algorithm of a collective; none: the selector's choice.
struct Choice {
  std::string_view name;
  bool deterministic;
};

std::vector<Choice> choices(Collective collective) {
  std::vector<Choice> result{{"", true}};
  for (const collectives::Algorithm& algorithm : collectives::algorithms())
    if (algorithm.collective == collective)
      result.push_back({algorithm.name, algorithm.deterministic});
  return result;
}

bool is_blockwise(Collective collective) {
  return has_uneven_blocks(collective) || collective == Collective::gather ||
         collective == Collective::scatter;
}

std::vector<std::size_t> counts(Collective collective, int ranks) {
  if (collective == Collective::barrier) return {0};
  const std::size_t n = ranks;
  const std::size_t large = is_blockwise(collective) ? kLargePrimeBlock : kLargePrime;
  const std::set<std::size_t> distinct{0, 1, n - 1, n, n + 1, 2 * n + 1, 3 * n, large};
  return {distinct.begin(), distinct.end()};
}

std::vector<DataType> types(Collective collective) {
  std::vector<DataType> result;
  const int size = collective == Collective::barrier ? 1 : kDataTypes;
  for (int type = 0; type < size; ++type) result.push_back(static_cast<DataType>(type));
  return result;
}

std::vector<ReduceOp> ops(Collective collective) {
  if (!reduces(collective)) return {ReduceOp::sum};
  return {ReduceOp::sum, ReduceOp::prod, ReduceOp::min, ReduceOp::max, ReduceOp::avg};
}

bool is_sixteen_bit(DataType type) { return accumulator_of(type) != type; }

/// Draws the factors that are not part of the product.
void draw_the_rest(Case& c, bool can_be_deterministic, int ranks, std::uint64_t seed) {
  std::uint64_t random = mix(seed);
  const auto draw = [&](std::uint64_t choices) {
    random = mix(random);
    return random % choices;
  };
  const auto& segments = c.count < kLargePrimeBlock ? kSmallSegments : kLargeSegments;
  c.alignment = static_cast<Alignment>(draw(3));
  c.segment_bytes = segments[draw(segments.size())];
  if (has_root(c.collective)) c.root = static_cast<Rank>(draw(ranks));
  c.memory = static_cast<Memory>(draw(kMemories));
  if (!reduces(c.collective)) return;
  if (is_floating(c.type) && draw(4) == 0) c.scale = kScale;
  if (can_be_deterministic) c.deterministic = draw(2) == 0;
  if (is_sixteen_bit(c.type) && !c.deterministic && draw(3) == 0) c.wire = Wire::narrow;
}

}  // namespace

std::span<const Collective> conforming_collectives() { return kCollectives; }

std::vector<Case> full_product(Collective collective, int ranks) {
  std::vector<Case> cases;
  const auto add = [&](Case c, bool can_be_deterministic) {
    if (c.op == ReduceOp::avg && !is_floating(c.type)) return;
    if (c.uneven && !has_uneven_blocks(c.collective)) return;
    if (c.where == Where::in_place && !can_be_in_place(c.collective)) return;
    draw_the_rest(c, can_be_deterministic, ranks, cases.size());
    cases.push_back(c);
  };
  for (const Choice& choice : choices(collective))
    for (const std::size_t count : counts(collective, ranks))
      for (const DataType type : types(collective))
        for (const ReduceOp op : ops(collective))
          for (const bool uneven : {false, true})
            for (const Where where : {Where::out_of_place, Where::in_place})
              add({.collective = collective,
                   .algorithm = choice.name,
                   .type = type,
                   .op = op,
                   .count = count,
                   .uneven = uneven,
                   .where = where},
                  choice.deterministic);
  return cases;
}

std::vector<Case> vendor_cases(int ranks) {
  std::vector<Case> cases;
  for (const Collective collective :
       {Collective::allreduce, Collective::reduce, Collective::broadcast, Collective::allgather})
    for (Case c : full_product(collective, ranks)) {
      if (!c.algorithm.empty() || c.uneven) continue;
      if (reduces(collective) && !transport::Vendor::keeps_contracts(c.op, c.type)) continue;
      c.algorithm = "vendor";
      c.scale = 1.0;
      c.deterministic = false;
      c.wire = Wire::wide;
      cases.push_back(c);
    }
  return cases;
}

Case random_case(std::uint64_t random, int ranks) {
  const auto draw = [&](std::size_t bound) {
    random = mix(random);
    return random % bound;
  };
  Case c;
  c.collective = kCollectives[draw(kCollectives.size())];
  const std::vector<Choice> algorithms = choices(c.collective);
  const Choice choice = algorithms[draw(algorithms.size())];
  c.algorithm = choice.name;
  if (c.collective == Collective::barrier) return c;
  c.type = static_cast<DataType>(draw(kDataTypes));
  const bool can_average = is_floating(c.type);
  if (reduces(c.collective)) c.op = static_cast<ReduceOp>(draw(can_average ? 5 : 4));
  const std::size_t most = is_blockwise(c.collective) ? kLargePrimeBlock : kLargePrime;
  c.count = draw(2) == 0 ? draw(4 * ranks) : draw(most);
  c.uneven = has_uneven_blocks(c.collective) && draw(2) == 0;
  if (can_be_in_place(c.collective)) c.where = static_cast<Where>(draw(2));
  draw_the_rest(c, choice.deterministic, ranks, random);
  return c;
}

std::vector<Case> thin_out(const std::vector<Case>& cases, int stride) {
  std::vector<Case> result;
  for (std::size_t i = 0; i < cases.size(); ++i)
    if (mix(i) % stride == 0) result.push_back(cases[i]);
  return result;
}

namespace {

/// A collective, one of its algorithms, and the shape of its blocks: one factor of the covering
/// array, since they depend on each other.
struct Variant {
  Collective collective;
  Choice choice;
  bool uneven;
};

std::vector<Variant> variants(bool reducing) {
  std::vector<Variant> result;
  for (const Collective collective : kCollectives) {
    if (reduces(collective) != reducing) continue;
    for (const Choice& choice : choices(collective)) {
      result.push_back({collective, choice, false});
      if (has_uneven_blocks(collective)) result.push_back({collective, choice, true});
    }
  }
  return result;
}

enum Factor {
  kVariant,
  kCount,
  kType,
  kWhere,
  kAlignment,
  kRoot,
  kSegment,
  kMemory,
  kOp,
  kMode,
  kScaled
};
enum Mode { kWide, kNarrow, kDeterministic, kModes };

bool goes_together(const Variant& variant, int factor, int value) {
  const Collective collective = variant.collective;
  switch (factor) {
    case kCount:
    case kType:
      return collective != Collective::barrier || value == 0;
    case kWhere:
      return can_be_in_place(collective) || value == static_cast<int>(Where::out_of_place);
    case kRoot:
      return has_root(collective) || value == 0;
    case kMode:
      return variant.choice.deterministic || value != kDeterministic;
    default:
      return true;
  }
}

bool goes_together(DataType type, int factor, int value) {
  switch (factor) {
    case kOp:
      return is_floating(type) || static_cast<ReduceOp>(value) != ReduceOp::avg;
    case kMode:
      return is_sixteen_bit(type) || value != kNarrow;
    case kScaled:
      return is_floating(type) || value == 0;
    default:
      return true;
  }
}

Case case_of(const Row& row, const Variant& variant, int ranks) {
  const std::vector<std::size_t> all_counts = counts(variant.collective, ranks);
  Case c;
  c.collective = variant.collective;
  c.algorithm = variant.choice.name;
  c.uneven = variant.uneven;
  c.count = all_counts[row[kCount] % all_counts.size()];
  c.type = static_cast<DataType>(row[kType]);
  c.where = static_cast<Where>(row[kWhere]);
  c.alignment = static_cast<Alignment>(row[kAlignment]);
  c.root = row[kRoot];
  const auto& segments = c.count < kLargePrimeBlock ? kSmallSegments : kLargeSegments;
  c.segment_bytes = segments[row[kSegment]];
  c.memory = static_cast<Memory>(row[kMemory]);
  if (!reduces(c.collective)) return c;
  c.op = static_cast<ReduceOp>(row[kOp]);
  c.wire = row[kMode] == kNarrow ? Wire::narrow : Wire::wide;
  c.deterministic = row[kMode] == kDeterministic;
  c.scale = row[kScaled] != 0 ? kScale : 1.0;
  return c;
}

void add_covering_cases(bool reducing, int ranks, std::vector<Case>& cases) {
  const std::vector<Variant> all = variants(reducing);
  const int count_sizes = static_cast<int>(counts(Collective::allreduce, ranks).size());
  std::vector<int> sizes{
      static_cast<int>(all.size()), count_sizes, kDataTypes, 2, 3, ranks, 3, kMemories};
  if (reducing) sizes.insert(sizes.end(), {kReduceOps, kModes, 2});
  const PairAllowed allowed = [&](int f, int a, int g, int b) {
    if (f == kVariant) return goes_together(all[a], g, b);
    if (f == kType) return goes_together(static_cast<DataType>(a), g, b);
    return true;
  };
  for (const Row& row : covering_array(sizes, allowed))
    cases.push_back(case_of(row, all[row[kVariant]], ranks));
}

}  // namespace

std::vector<Case> covering_cases(int ranks) {
  std::vector<Case> cases;
  add_covering_cases(true, ranks, cases);
  add_covering_cases(false, ranks, cases);
  return cases;
}

}  // namespace rondo::testing
