#pragma once

#include <cstdint>

namespace rondo {

/// IEEE 754 binary16. Storage only: arithmetic happens in float.
/// Conversion from float rounds to nearest even, overflows to infinity, and keeps a NaN a NaN.
struct float16 {
  std::uint16_t bits = 0;

  float16() = default;
  explicit float16(float value);
  explicit operator float() const;

  static constexpr float16 from_bits(std::uint16_t bits) {
    float16 half;
    half.bits = bits;
    return half;
  }
};

/// bfloat16: the upper half of a float. Storage only: arithmetic happens in float.
/// Conversion from float rounds to nearest even, overflows to infinity, and keeps a NaN a NaN.
struct bfloat16 {
  std::uint16_t bits = 0;

  bfloat16() = default;
  explicit bfloat16(float value);
  explicit operator float() const;

  static constexpr bfloat16 from_bits(std::uint16_t bits) {
    bfloat16 half;
    half.bits = bits;
    return half;
  }
};

static_assert(sizeof(float16) == 2 && sizeof(bfloat16) == 2);

}  // namespace rondo
