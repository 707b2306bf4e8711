#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include <rondo/types.hpp>

#include "support/reduce_reference.hpp"

namespace rondo::testing {

/// What ranks contribute: numbers drawn from a hash of (rank, index), so that every rank knows
/// every other's, and an element does not depend on how many there are.
enum class Pattern : std::uint8_t {
  any_bits,  ///< to be moved: every bit pattern, NaN with payloads included
  addends,   ///< numbers between -8 and 8; integers that wrap around
  factors,   ///< of either sign, magnitude 1/2 to 2; odd integers, whose products never vanish
  extremes,  ///< addends with zeros of both signs, infinities and NaN among them
};

inline Pattern pattern_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::avg:
      return Pattern::addends;
    case ReduceOp::prod:
      return Pattern::factors;
    case ReduceOp::min:
    case ReduceOp::max:
      break;
  }
  return Pattern::extremes;
}

/// splitmix64's mixing function (Steele, Lea & Flood, 2014).
constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e37'79b9'7f4a'7c15;
  x = (x ^ (x >> 30)) * 0xbf58'476d'1ce4'e5b9;
  x = (x ^ (x >> 27)) * 0x94d0'49bb'1331'11eb;
  return x ^ (x >> 31);
}

namespace detail {

inline double floating_value(Pattern pattern, std::uint64_t random) {
  const double unit = static_cast<double>(random >> 11) * 0x1p-53;
  const double sign = random & 1 ? -1.0 : 1.0;
  if (pattern == Pattern::factors) return sign * (0.5 + 1.5 * unit);
  if (pattern == Pattern::extremes) {
    const unsigned choice = (random >> 1) % 64;
    if (choice == 0) return std::numeric_limits<double>::quiet_NaN();
    if (choice == 1) return sign * std::numeric_limits<double>::infinity();
    if (choice < 16) return sign * 0.0;
  }
  return sign * 8.0 * unit;
}

}  // namespace detail

/// Element `index` of what `rank` contributes.
template <class T>
T pattern_value(Pattern pattern, Rank rank, std::size_t index) {
  const std::uint64_t random = mix((static_cast<std::uint64_t>(rank) << 48) ^ index);
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(pattern == Pattern::factors ? random | 1 : random);
  } else if (pattern == Pattern::any_bits) {
    T value;
    std::memcpy(static_cast<void*>(&value), &random, sizeof(T));
    return value;
  } else {
    const double value = detail::floating_value(pattern, random);
    return static_cast<T>(static_cast<core::reference::Accumulator<T>>(value));
  }
}

/// Writes elements [first, first + count) of what `rank` contributes to `out`, of any alignment.
inline void fill_pattern(DataType type, Pattern pattern, Rank rank, std::size_t first,
                         std::size_t count, std::byte* out) {
  core::reference::with_type(type, [&]<class T>() {
    for (std::size_t i = 0; i < count; ++i) {
      const T value = pattern_value<T>(pattern, rank, first + i);
      std::memcpy(out + i * sizeof(T), &value, sizeof(T));
    }
  });
}

}  // namespace rondo::testing
