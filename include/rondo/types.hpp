#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <rondo/half.hpp>

namespace rondo {

/// Index of a process within a communicator, 0 … size-1.
using Rank = int;

/// Type of one element of a buffer.
enum class DataType : std::uint8_t {
  int8,
  uint8,
  int32,
  uint32,
  int64,
  uint64,
  float16,
  bfloat16,
  float32,
  float64,
};
inline constexpr int kDataTypes = 10;

/// How elements of different ranks are combined. `avg` is the sum divided by the number of ranks;
/// integers refuse it. In `min` and `max`, -0 < +0, and a NaN on any rank makes the result NaN.
enum class ReduceOp : std::uint8_t { sum, prod, min, max, avg };
inline constexpr int kReduceOps = 5;

/// Bytes of one element.
constexpr std::size_t size_of(DataType type) {
  constexpr std::array<std::uint8_t, kDataTypes> kSizes{1, 1, 4, 4, 8, 8, 2, 2, 4, 8};
  return kSizes[static_cast<std::size_t>(type)];
}

/// The type in which partial results are kept: float32 for the 16-bit types, else the type itself.
constexpr DataType accumulator_of(DataType type) {
  const bool sixteen = type == DataType::float16 || type == DataType::bfloat16;
  return sixteen ? DataType::float32 : type;
}

/// True for float16, bfloat16, float32 and float64.
constexpr bool is_floating(DataType type) { return type >= DataType::float16; }

/// "float32", "sum", … as printed in messages and accepted by the command lines.
std::string_view name_of(DataType type);
std::string_view name_of(ReduceOp op);

namespace detail {
template <class T>
constexpr DataType data_type_of() {
  if constexpr (std::is_same_v<T, float16>)
    return DataType::float16;
  else if constexpr (std::is_same_v<T, bfloat16>)
    return DataType::bfloat16;
  else if constexpr (std::is_same_v<T, float>)
    return DataType::float32;
  else if constexpr (std::is_same_v<T, double>)
    return DataType::float64;
  else {
    static_assert(std::is_integral_v<T> && !std::is_same_v<T, bool>,
                  "rondo has no DataType for this element type");
    static_assert(sizeof(T) != 2, "rondo has no 16-bit integers");
    constexpr bool is_signed = std::is_signed_v<T>;
    if constexpr (sizeof(T) == 1)
      return is_signed ? DataType::int8 : DataType::uint8;
    else if constexpr (sizeof(T) == 4)
      return is_signed ? DataType::int32 : DataType::uint32;
    else
      return is_signed ? DataType::int64 : DataType::uint64;
  }
}
}  // namespace detail

/// The DataType of the C++ type T; a compile error when there is none.
template <class T>
inline constexpr DataType data_type_of = detail::data_type_of<std::remove_cv_t<T>>();

}  // namespace rondo
