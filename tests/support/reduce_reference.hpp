#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <type_traits>
#include <vector>

#include <rondo/types.hpp>

#include "core/element.hpp"

/// What the reduction kernels must compute, one element at a time and without Highway.
namespace rondo::core::reference {

/// Calls function.operator()<T>() with the C++ type of `type`.
template <class Function>
decltype(auto) with_type(DataType type, Function function) {
  switch (type) {
    case DataType::int8:
      return function.template operator()<std::int8_t>();
    case DataType::uint8:
      return function.template operator()<std::uint8_t>();
    case DataType::int32:
      return function.template operator()<std::int32_t>();
    case DataType::uint32:
      return function.template operator()<std::uint32_t>();
    case DataType::int64:
      return function.template operator()<std::int64_t>();
    case DataType::uint64:
      return function.template operator()<std::uint64_t>();
    case DataType::float16:
      return function.template operator()<float16>();
    case DataType::bfloat16:
      return function.template operator()<bfloat16>();
    case DataType::float32:
      return function.template operator()<float>();
    case DataType::float64:
      break;
  }
  return function.template operator()<double>();
}

/// Calls function.operator()<T>(op) for every type and operation.
template <class Function>
void for_each_type_and_op(Function function) {
  for (int t = 0; t < kDataTypes; ++t)
    for (int o = 0; o < kReduceOps; ++o)
      with_type(DataType(t), [&]<class T>() { function.template operator()<T>(ReduceOp(o)); });
}

using core::Accumulator;
using core::is_half;

/// Integers wrap around; a NaN operand gives a NaN; -0 < +0.
template <class A>
A combine(ReduceOp op, A a, A b) {
  if constexpr (std::is_integral_v<A>) {
    const auto ua = static_cast<std::uint64_t>(a);
    const auto ub = static_cast<std::uint64_t>(b);
    if (op == ReduceOp::min) return a < b ? a : b;
    if (op == ReduceOp::max) return a < b ? b : a;
    return static_cast<A>(op == ReduceOp::prod ? ua * ub : ua + ub);
  } else {
    if (op == ReduceOp::prod) return a * b;
    if (op == ReduceOp::sum || op == ReduceOp::avg) return a + b;
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<A>::quiet_NaN();
    const bool less = a < b || (a == b && std::signbit(a) && !std::signbit(b));
    return less == (op == ReduceOp::min) ? a : b;
  }
}

/// (…(x0·scale ⊕ x1·scale) ⊕ …) / divisor in the accumulator type.
template <class T>
Accumulator<T> fold(ReduceOp op, std::span<const T> values, double scale, double divisor) {
  using A = Accumulator<T>;
  const auto scaled = [&](T value) {
    const A accumulator = static_cast<A>(value);
    return scale == 1.0 ? accumulator : static_cast<A>(accumulator * static_cast<A>(scale));
  };
  A result = scaled(values[0]);
  for (std::size_t i = 1; i < values.size(); ++i) result = combine(op, result, scaled(values[i]));
  return divisor == 1.0 ? result : static_cast<A>(result / static_cast<A>(divisor));
}

template <class T>
bool is_nan(T value) {
  if constexpr (std::is_integral_v<T>)
    return false;
  else
    return std::isnan(static_cast<Accumulator<T>>(value));
}

/// The same bits, or both a NaN.
template <class T>
bool same(T a, T b) {
  return (is_nan(a) && is_nan(b)) || std::memcmp(&a, &b, sizeof(T)) == 0;
}

/// Mostly small numbers, mixed with any bit pattern (infinities, NaNs, subnormals, extremes).
template <class T>
T random_value(std::mt19937_64& random) {
  const std::uint64_t bits = random();
  const std::uint64_t kind = random() % 8;
  if (kind == 0) {
    T any;
    std::memcpy(static_cast<void*>(&any), &bits, sizeof(T));
    return any;
  }
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(kind == 1 ? std::numeric_limits<T>::min() : static_cast<T>(bits));
  if (kind == 1) return static_cast<T>(static_cast<Accumulator<T>>(bits % 2 == 0 ? 0.0 : -0.0));
  const double small = std::ldexp(static_cast<double>(bits >> 11), -53) * 8 - 4;
  return static_cast<T>(static_cast<Accumulator<T>>(small));
}

template <class T>
std::vector<T> random_values(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<T> values(count);
  for (T& value : values) value = random_value<T>(random);
  return values;
}

}  // namespace rondo::core::reference
