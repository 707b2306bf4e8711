// The reduction operations on vectors. Compiled once for each instruction set.
#if defined(RONDO_CORE_REDUCE_OPS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef RONDO_CORE_REDUCE_OPS_INL_HPP
#undef RONDO_CORE_REDUCE_OPS_INL_HPP
#else
#define RONDO_CORE_REDUCE_OPS_INL_HPP
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace rondo::core::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Each operation takes (left, right). Integers wrap around, which Highway defines for unsigned
// lanes only: signed sums and products are taken as unsigned ones.

struct Sum {
  template <class D, class V>
  static HWY_INLINE V apply(D, V a, V b) {
    return hn::Add(a, b);
  }
};

// The low half of products that the instruction set has only for wider or narrower lanes.
template <class D, class V>
HWY_INLINE V multiply_8_bit(D d, V a, V b) {
  const hn::RepartitionToWide<D> wide;
  const auto wide_a = hn::BitCast(wide, a);
  const auto wide_b = hn::BitCast(wide, b);
  const auto even = hn::And(hn::Mul(wide_a, wide_b), hn::Set(wide, 0xff));
  const auto odd = hn::Mul(hn::ShiftRight<8>(wide_a), hn::ShiftRight<8>(wide_b));
  return hn::BitCast(d, hn::Or(even, hn::ShiftLeft<8>(odd)));
}

// (a1·2^32 + a0)(b1·2^32 + b0) = a0·b0 + (a1·b0 + a0·b1)·2^32 + a multiple of 2^64
template <class D, class V>
HWY_INLINE V multiply_64_bit(D, V a, V b) {
  const hn::RepartitionToNarrow<D> narrow;
  const auto a0 = hn::BitCast(narrow, a);
  const auto b0 = hn::BitCast(narrow, b);
  const auto a1 = hn::BitCast(narrow, hn::ShiftRight<32>(a));
  const auto b1 = hn::BitCast(narrow, hn::ShiftRight<32>(b));
  const auto cross = hn::Add(hn::MulEven(a1, b0), hn::MulEven(a0, b1));
  return hn::Add(hn::MulEven(a0, b0), hn::ShiftLeft<32>(cross));
}

struct Product {
  template <class D, class V>
  static HWY_INLINE V apply(D d, V a, V b) {
    using T = hn::TFromD<D>;
    if constexpr (hwy::IsFloat<T>() || sizeof(T) == 4) {
      return hn::Mul(a, b);
    } else if constexpr (HWY_TARGET == HWY_SCALAR) {
      return hn::Set(d, static_cast<T>(hn::GetLane(a) * hn::GetLane(b)));
    } else if constexpr (sizeof(T) == 1) {
      return multiply_8_bit(d, a, b);
    } else {
      return multiply_64_bit(d, a, b);
    }
  }
};

// `ordered`, or a quiet NaN where either operand is one.
template <class V>
HWY_INLINE V keep_nan(V a, V b, V ordered) {
  const auto both_numbers = hn::And(hn::Eq(a, a), hn::Eq(b, b));
  return hn::IfThenElse(both_numbers, ordered, hn::Add(a, b));
}

// Where floats compare equal, only the sign of a zero can differ: a minimum takes the sign bit if
// either has it, a maximum if both have it.
struct Minimum {
  template <class D, class V>
  static HWY_INLINE V apply(D, V a, V b) {
    if constexpr (!hwy::IsFloat<hn::TFromD<D>>()) {
      return hn::Min(a, b);
    } else {
      const V smaller = hn::IfThenElse(hn::Lt(a, b), a, b);
      return keep_nan(a, b, hn::IfThenElse(hn::Eq(a, b), hn::Or(a, b), smaller));
    }
  }
};

struct Maximum {
  template <class D, class V>
  static HWY_INLINE V apply(D, V a, V b) {
    if constexpr (!hwy::IsFloat<hn::TFromD<D>>()) {
      return hn::Max(a, b);
    } else {
      const V larger = hn::IfThenElse(hn::Lt(a, b), b, a);
      return keep_nan(a, b, hn::IfThenElse(hn::Eq(a, b), hn::And(a, b), larger));
    }
  }
};

}  // namespace rondo::core::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
