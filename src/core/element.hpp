#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#include <rondo/types.hpp>

/// Reductions of one element, for scalar code and for devices (a constexpr function is device code
/// as well). The vector kernels do the same on many lanes: a test compares every type and operation
/// bit by bit, NaN payloads aside.
namespace rondo::core {

template <class T>
inline constexpr bool is_half = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;

/// The C++ type of accumulator_of(data_type_of<T>).
template <class T>
using Accumulator = std::conditional_t<is_half<T>, float, T>;

namespace detail {

inline constexpr std::uint32_t kFloatMagnitude = 0x7fff'ffff;
inline constexpr std::uint32_t kFloatInfinity = 0x7f80'0000;
inline constexpr std::uint32_t kQuietBit = 0x0040'0000;

/// Bits of a float's magnitude → bits of the float16 nearest to it.
constexpr std::uint32_t narrow_magnitude(std::uint32_t magnitude) {
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

/// Bits of a float16's magnitude → bits of the same value as a float.
constexpr std::uint32_t widen_magnitude(std::uint32_t magnitude) {
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

}  // namespace detail

/// The same value as a float.
constexpr float widen(bfloat16 value) {
  return std::bit_cast<float>(std::uint32_t{value.bits} << 16);
}
constexpr float widen(float16 value) {
  const std::uint32_t sign = std::uint32_t{value.bits & 0x8000u} << 16;
  return std::bit_cast<float>(sign | detail::widen_magnitude(value.bits & 0x7fffu));
}

/// The nearest value of a 16-bit type, of two equally near ones the even.
template <class Half>
constexpr Half narrow(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if constexpr (std::is_same_v<Half, float16>) {
    const std::uint32_t sign = (bits >> 16) & 0x8000;
    return float16::from_bits(static_cast<std::uint16_t>(
        sign | detail::narrow_magnitude(bits & detail::kFloatMagnitude)));
  } else {
    // Rounding must not carry a NaN's payload into the sign, so a NaN is cut off and made quiet.
    const bool nan = (bits & detail::kFloatMagnitude) > detail::kFloatInfinity;
    const std::uint32_t odd = (bits >> 16) & 1;
    const std::uint32_t rounded = nan ? bits | detail::kQuietBit : bits + 0x7fff + odd;
    return bfloat16::from_bits(static_cast<std::uint16_t>(rounded >> 16));
  }
}

/// From an element to what it is reduced as, and back, rounded once.
template <class T>
constexpr Accumulator<T> to_accumulator(T value) {
  if constexpr (is_half<T>)
    return widen(value);
  else
    return value;
}
template <class T>
constexpr T from_accumulator(Accumulator<T> value) {
  if constexpr (is_half<T>)
    return narrow<T>(value);
  else
    return value;
}

namespace detail {

template <ReduceOp op, class A>
constexpr A combine_floats(A a, A b) {
  using Bits = std::conditional_t<sizeof(A) == 4, std::uint32_t, std::uint64_t>;
  if constexpr (op == ReduceOp::sum || op == ReduceOp::avg) return a + b;
  if constexpr (op == ReduceOp::prod) return a * b;
  constexpr bool smaller = op == ReduceOp::min;
  if (a < b) return smaller ? a : b;
  if (b < a) return smaller ? b : a;
  // Where floats compare equal, only the sign of a zero can differ: a minimum takes the sign bit if
  // either has it, a maximum if both have it.
  const auto bits_a = std::bit_cast<Bits>(a);
  const auto bits_b = std::bit_cast<Bits>(b);
  if (a == b) return std::bit_cast<A>(smaller ? bits_a | bits_b : bits_a & bits_b);
  return a + b;  // a quiet NaN
}

template <ReduceOp op, class A>
constexpr A combine_integers(A a, A b) {
  if constexpr (op == ReduceOp::min) return a < b ? a : b;
  if constexpr (op == ReduceOp::max) return a < b ? b : a;
  using Wrapping = std::make_unsigned_t<A>;
  const auto left = static_cast<Wrapping>(a);
  const auto right = static_cast<Wrapping>(b);
  return static_cast<A>(op == ReduceOp::prod ? left * right : left + right);
}

}  // namespace detail

/// a ⊕ b in an accumulator type, a being the lower rank's. avg adds, integers wrap around, -0 < +0,
/// and a NaN on either side gives a NaN.
template <ReduceOp op, class A>
constexpr A combine(A a, A b) {
  if constexpr (std::is_integral_v<A>)
    return detail::combine_integers<op>(a, b);
  else
    return detail::combine_floats<op>(a, b);
}

}  // namespace rondo::core
