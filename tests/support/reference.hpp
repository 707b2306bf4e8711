#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <rondo/types.hpp>

#include "transport/topology.hpp"

namespace rondo::testing {

/// A reduction, and how its result is judged.
struct Reduction {
  DataType type;
  ReduceOp op;
  double scale = 1.0;
  bool deterministic = false;
  bool narrow = false;

  auto operator<=>(const Reduction&) const = default;
};

/// What the reduction of elements [0, count) of the pattern of all ranks must give, computed as
/// simply as possible.
///
/// Integers wrap around, and min and max round nothing: every bit is known. So it is in
/// deterministic mode, by following its definition. Otherwise a result may differ from one computed
/// in float64 by the roundings that it cannot avoid: with u the unit roundoff of the partials, each
/// of the n-1 operations, the scaling by `scale` (itself rounded) and the division of the average
/// cost at most u times the sum of the magnitudes (a product: its own magnitude), the final
/// rounding costs that of the element type, and each may hit the smallest subnormal instead.
class Reference {
 public:
  Reference(const Reduction& reduction, const transport::Topology& topology, std::size_t count);

  std::size_t count() const { return count_; }
  /// Compares elements [first, first + count) with what a collective gave. Says what is wrong.
  std::optional<std::string> check(std::size_t first, std::size_t count,
                                   const std::byte* got) const;

 private:
  void compute_exactly(const transport::Topology& topology);
  void compute_approximately(int ranks);
  template <class T>
  std::optional<std::string> check_elements(std::size_t first, std::size_t count,
                                            const std::byte* got) const;
  double tolerance(std::size_t i) const;

  Reduction reduction_;
  int ranks_;
  std::size_t count_;
  std::vector<std::byte> exact_;  // elements; empty when a tolerance is needed
  std::vector<double> value_;
  std::vector<double> magnitude_;  // what roundings are relative to
};

/// A number that is equal for equal elements; all NaN count as equal.
std::uint64_t digest(DataType type, std::size_t count, const std::byte* data);

}  // namespace rondo::testing
