#pragma once

#include <cstdint>

namespace rondo::train {

/// A bijection of 64 bits that looks random: SplitMix64's output function (Steele, Lea & Flood,
/// 2014).
constexpr std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58'476D'1CE4'E5B9;
  z = (z ^ (z >> 27)) * 0x94D0'49BB'1331'11EB;
  return z ^ (z >> 31);
}

/// SplitMix64: number k is at(start, k), so any of them can be had without those before.
class SplitMix {
 public:
  explicit SplitMix(std::uint64_t start) : state_(start) {}

  static constexpr std::uint64_t at(std::uint64_t start, std::uint64_t k) {
    return mix(start + (k + 1) * kGolden);
  }
  std::uint64_t next() { return mix(state_ += kGolden); }

 private:
  static constexpr std::uint64_t kGolden = 0x9E37'79B9'7F4A'7C15;

  std::uint64_t state_;
};

/// A random word as a number in [0, 1), of which there are 2^53.
constexpr double unit_interval(std::uint64_t word) {
  return static_cast<double>(word >> 11) * 0x1p-53;
}

}  // namespace rondo::train
