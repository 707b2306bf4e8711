#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/each.hpp"
#include "train/random.hpp"

namespace rondo::train {

/// One row of a mask: 0 with some probability, else `kept`.
template <class T>
struct DropoutMask {
  using Element = T;
  static std::string name() { return "dropout_mask"; }

  std::size_t columns;
  double probability;
  T kept;

  /// Each row has a seed of its own.
  RONDO_EVERYWHERE void operator()(std::size_t row, const std::uint64_t* seeds, T* mask) const {
    const std::uint64_t seed = seeds[row];
    for (std::size_t i = 0; i < columns; ++i)
      mask[row * columns + i] = unit_interval(SplitMix::at(seed, i)) < probability ? T{0} : kept;
  }
};

}  // namespace rondo::train
