#include "support/reference.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <span>

#include <fmt/core.h>

#include "support/pattern.hpp"
#include "support/reduce_reference.hpp"

namespace rondo::testing {

using core::reference::Accumulator;
using core::reference::combine;
using core::reference::is_nan;
using core::reference::same;
using core::reference::with_type;

namespace {

/// How finely the numbers of a floating type are spaced.
struct Precision {
  double unit_roundoff;       // relative error of one rounding
  double smallest_subnormal;  // spacing next to zero
};

Precision precision_of(DataType type) {
  switch (type) {
    case DataType::float16:
      return {0x1p-11, 0x1p-24};
    case DataType::bfloat16:
      return {0x1p-8, 0x1p-133};
    case DataType::float32:
      return {0x1p-24, 0x1p-149};
    default:
      return {0x1p-53, 0x1p-1074};
  }
}

/// The canonical order of deterministic mode: in rank order within a node; then the nodes, in pairs
/// of neighbours.
template <class A>
A fold_canonically(ReduceOp op, const transport::Topology& topology, std::span<const A> values) {
  std::vector<A> partials;
  for (int node = 0; node < topology.nodes(); ++node) {
    const auto& ranks = topology.ranks_of(node);
    A partial = values[ranks.front()];
    for (std::size_t i = 1; i < ranks.size(); ++i) partial = combine(op, partial, values[ranks[i]]);
    partials.push_back(partial);
  }
  const auto merge = [&](std::size_t pairs) {
    for (std::size_t i = 0; i < pairs; ++i) {
      partials[i] = combine(op, partials[i], partials[i + 1]);
      partials.erase(partials.begin() + i + 1);
    }
  };
  merge(partials.size() - std::bit_floor(partials.size()));
  while (partials.size() > 1) merge(partials.size() / 2);
  return partials.front();
}

template <class T>
T canonical_value(const Reduction& reduction, const transport::Topology& topology, std::size_t i,
                  std::vector<Accumulator<T>>& values) {
  using A = Accumulator<T>;
  // So that no average overflows, the inputs are multiplied by a power of two first.
  const bool averages = reduction.op == ReduceOp::avg;
  const double power = averages ? std::bit_ceil(static_cast<unsigned>(topology.size())) : 1;
  const A scale = static_cast<A>(reduction.scale / power);
  const A divisor = static_cast<A>(averages ? topology.size() / power : 1);
  values.resize(topology.size());
  for (Rank rank = 0; rank < topology.size(); ++rank) {
    const T input = pattern_value<T>(pattern_of(reduction.op), rank, i);
    values[rank] = static_cast<A>(static_cast<A>(input) * scale);
  }
  const A partial = fold_canonically<A>(reduction.op, topology, values);
  return static_cast<T>(static_cast<A>(partial / divisor));
}

template <class T>
double to_double(T value) {
  return static_cast<double>(static_cast<Accumulator<T>>(value));
}

template <class T>
T element(const std::byte* data, std::size_t i) {
  T value;
  std::memcpy(&value, data + i * sizeof(T), sizeof(T));
  return value;
}

}  // namespace

Reference::Reference(const Reduction& reduction, const transport::Topology& topology,
                     std::size_t count)
    : reduction_(reduction), ranks_(topology.size()), count_(count) {
  const bool selects = reduction.op == ReduceOp::min || reduction.op == ReduceOp::max;
  if (!is_floating(reduction.type) || reduction.deterministic ||
      (selects && reduction.scale == 1.0))
    compute_exactly(topology);
  else
    compute_approximately(ranks_);
}

void Reference::compute_exactly(const transport::Topology& topology) {
  exact_.resize(count_ * size_of(reduction_.type));
  with_type(reduction_.type, [&]<class T>() {
    std::vector<Accumulator<T>> values;
    for (std::size_t i = 0; i < count_; ++i) {
      const T value = canonical_value<T>(reduction_, topology, i, values);
      std::memcpy(exact_.data() + i * sizeof(T), &value, sizeof(T));
    }
  });
}

void Reference::compute_approximately(int ranks) {
  const ReduceOp op = reduction_.op;
  const double divisor = op == ReduceOp::avg ? ranks : 1;
  value_.resize(count_);
  magnitude_.resize(count_);
  with_type(reduction_.type, [&]<class T>() {
    for (std::size_t i = 0; i < count_; ++i) {
      double value = 0;
      double magnitude = 0;
      for (Rank rank = 0; rank < ranks; ++rank) {
        const double input =
            reduction_.scale * to_double(pattern_value<T>(pattern_of(op), rank, i));
        value = rank == 0 ? input : combine(op, value, input);
        magnitude += std::abs(input);
      }
      value_[i] = value / divisor;
      const bool adds = op == ReduceOp::sum || op == ReduceOp::avg;
      magnitude_[i] = adds ? magnitude / divisor : std::abs(value);
    }
  });
}

double Reference::tolerance(std::size_t i) const {
  const Precision element = precision_of(reduction_.type);
  const Precision partial =
      reduction_.narrow ? element : precision_of(accumulator_of(reduction_.type));
  // n-1 of ⊕, two of the scale (in a product: of each factor), one of the average, one of ours
  const int roundings = (reduction_.op == ReduceOp::prod ? 3 : 1) * ranks_ + 3;
  const double largest_factor = 2.0 * std::max(1.0, std::abs(reduction_.scale));
  return roundings * partial.unit_roundoff * magnitude_[i] +
         element.unit_roundoff * std::abs(value_[i]) +
         roundings * partial.smallest_subnormal * std::pow(largest_factor, ranks_) +
         element.smallest_subnormal;
}

std::optional<std::string> Reference::check(std::size_t first, std::size_t count,
                                            const std::byte* got) const {
  return with_type(reduction_.type,
                   [&]<class T>() { return check_elements<T>(first, count, got); });
}

template <class T>
std::optional<std::string> Reference::check_elements(std::size_t first, std::size_t count,
                                                     const std::byte* got) const {
  for (std::size_t i = 0; i < count; ++i) {
    const T found = element<T>(got, i);
    if (!exact_.empty()) {
      const T wanted = element<T>(exact_.data(), first + i);
      if (same(wanted, found)) continue;
      return fmt::format("element {} of {} is {}, not exactly {}", i, count, to_double(found),
                         to_double(wanted));
    }
    const double wanted = value_[first + i];
    const double error = std::abs(to_double(found) - wanted);
    const bool close =
        std::isfinite(wanted) ? error <= tolerance(first + i) : same(to_double(found), wanted);
    if (!close)
      return fmt::format("element {} of {} is {}, not {} ± {}", i, count, to_double(found), wanted,
                         tolerance(first + i));
  }
  return {};
}

std::uint64_t digest(DataType type, std::size_t count, const std::byte* data) {
  return with_type(type, [&]<class T>() {
    std::uint64_t result = count;
    for (std::size_t i = 0; i < count; ++i) {
      const T value = element<T>(data, i);
      std::uint64_t bits = 0;
      std::memcpy(&bits, &value, sizeof(T));
      if (is_nan(value)) bits = ~std::uint64_t{0};
      result = (result ^ bits) * 0x9e37'79b9'7f4a'7c15;
      result ^= result >> 32;
    }
    return result;
  });
}

}  // namespace rondo::testing
