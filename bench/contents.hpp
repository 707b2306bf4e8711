#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "workload.hpp"

namespace rondo::bench {

/// What the ranks contribute to a workload, and what must come out.
///
/// Small whole numbers that repeat after a prime number of elements: writing and checking them
/// costs little more than touching the memory, a piece of the result that lies at the wrong place
/// is wrong, and every result is exact, whatever the order of adding. Each `turn` shifts them, so
/// that a result left over from an earlier turn is wrong, too.
class Contents {
 public:
  explicit Contents(const Workload& work);

  /// Overwrites the output with what no result is, and then writes the input. In place one of them
  /// lies within the other.
  void write(std::uint64_t turn, std::byte* input, std::byte* output) const;

  /// How many of the output's elements are not what they must be, to the last bit.
  std::size_t count_wrong(std::uint64_t turn, const std::byte* output) const;

 private:
  using Period = std::vector<std::byte>;

  Period contribution(Rank rank) const;
  Period reduction() const;
  void write_own(std::uint64_t turn, std::size_t first, std::size_t count, std::byte* to) const;
  /// Compares `count` elements, the first of which is the message's element `first`.
  std::size_t count_wrong(const Period& expected, std::uint64_t turn, std::size_t first,
                          std::size_t count, const std::byte* output) const;

  Workload work_;
  std::size_t element_;  // bytes
  Period own_;
  std::vector<Period> expected_;  // one for the whole output, or one for each of its blocks
};

}  // namespace rondo::bench
