#include <rondo/half.hpp>

#include <algorithm>
#include <bit>

// The vector kernels (half_lanes-inl.hpp) do the same steps on many lanes; a test compares all
// patterns.
namespace rondo {

namespace {

constexpr std::uint32_t kFloatMagnitude = 0x7fff'ffff;
constexpr std::uint32_t kFloatInfinity = 0x7f80'0000;
constexpr std::uint32_t kQuietBit = 0x0040'0000;

std::uint16_t narrow_to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  // Rounding must not carry a NaN's payload into the sign, so a NaN is cut off and made quiet.
  if ((bits & kFloatMagnitude) > kFloatInfinity)
    return static_cast<std::uint16_t>((bits | kQuietBit) >> 16);
  const std::uint32_t odd = (bits >> 16) & 1;
  return static_cast<std::uint16_t>((bits + 0x7fff + odd) >> 16);
}

// Bits of a float's magnitude → bits of the float16 nearest to it.
std::uint32_t narrow_magnitude(std::uint32_t magnitude) {
  if (magnitude > kFloatInfinity) return 0x7e00 | ((magnitude >> 13) & 0x3ff);
  if (magnitude < 0x3880'0000) {
    // Below 2^-14 the result is a multiple of 2^-24, which is the last place of 0.5: adding 0.5
    // rounds to nearest even exactly there.
    const float rounded = std::bit_cast<float>(magnitude) + 0.5f;
    return std::bit_cast<std::uint32_t>(rounded) - std::bit_cast<std::uint32_t>(0.5f);
  }
  const std::uint32_t odd = (magnitude >> 13) & 1;
  const std::uint32_t rebased = magnitude - (std::uint32_t{127 - 15} << 23);
  return std::min<std::uint32_t>((rebased + 0xfff + odd) >> 13, 0x7c00);
}

// Bits of a float16's magnitude → bits of the same value as a float.
std::uint32_t widen_magnitude(std::uint32_t magnitude) {
  const std::uint32_t shifted = magnitude << 13;
  if (magnitude >= 0x7c00) return shifted | kFloatInfinity | (magnitude > 0x7c00 ? kQuietBit : 0);
  if (magnitude < 0x0400) {
    // A subnormal: put it behind an exponent of 2^-14, and take that away again.
    constexpr std::uint32_t smallest_normal = std::uint32_t{127 - 14} << 23;
    const float value =
        std::bit_cast<float>(shifted + smallest_normal) - std::bit_cast<float>(smallest_normal);
    return std::bit_cast<std::uint32_t>(value);
  }
  return shifted + (std::uint32_t{127 - 15} << 23);
}

}  // namespace

bfloat16::bfloat16(float value) : bits(narrow_to_bfloat16(value)) {}

bfloat16::operator float() const { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

float16::float16(float value) {
  const auto from = std::bit_cast<std::uint32_t>(value);
  bits = static_cast<std::uint16_t>(((from >> 16) & 0x8000) |
                                    narrow_magnitude(from & kFloatMagnitude));
}

float16::operator float() const {
  const std::uint32_t sign = std::uint32_t{bits & 0x8000u} << 16;
  return std::bit_cast<float>(sign | widen_magnitude(bits & 0x7fffu));
}

}  // namespace rondo
