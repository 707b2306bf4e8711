// How elements of a type become the lanes in which they are reduced. Compiled once for each
// instruction set.
#if defined(RONDO_CORE_LANES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef RONDO_CORE_LANES_INL_HPP
#undef RONDO_CORE_LANES_INL_HPP
#else
#define RONDO_CORE_LANES_INL_HPP
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace rondo::core::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// A format says what lies in memory (Element), what is computed with (Accumulator), and converts
// one vector of the latter from and to memory of any alignment. If kInTwos, it also converts two
// vectors at once, between which it deals out the elements as suits it, always alike. If kInParts,
// it converts the first `count` elements of a vector without touching those behind.

template <class T>
struct Plain {
  using Element = T;
  using Accumulator = T;
  static constexpr bool kInTwos = false;
  static constexpr bool kInParts = HWY_MEM_OPS_MIGHT_FAULT == 0;

  template <class D>
  static HWY_INLINE hn::Vec<D> load(D d, const T* from) {
    return hn::LoadU(d, from);
  }
  template <class D>
  static HWY_INLINE void store(D d, hn::Vec<D> lanes, T* to) {
    hn::StoreU(lanes, d, to);
  }
  template <class D>
  static HWY_INLINE hn::Vec<D> load_part(D d, const T* from, std::size_t count) {
    return hn::MaskedLoad(hn::FirstN(d, count), d, from);
  }
  template <class D>
  static HWY_INLINE void store_part(D d, hn::Vec<D> lanes, T* to, std::size_t count) {
    hn::BlendedStore(lanes, hn::FirstN(d, count), d, to);
  }
};

// Both 16-bit formats convert as core/element.hpp does, bit for bit; the comments are there.

struct Bfloat16 {
  using Element = std::uint16_t;
  using Accumulator = float;
  static constexpr bool kInTwos = HWY_TARGET != HWY_SCALAR;
  static constexpr bool kInParts = false;

  template <class D>
  static HWY_INLINE hn::Vec<D> load(D d, const Element* from) {
    const hn::Rebind<Element, D> narrow;
    const hn::RebindToUnsigned<D> wide;
    return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(wide, hn::LoadU(narrow, from))));
  }
  template <class D>
  static HWY_INLINE void store(D d, hn::Vec<D> lanes, Element* to) {
    const hn::Rebind<Element, D> narrow;
    const hn::RebindToSigned<D> wide_signed;
    const auto upper = hn::ShiftRight<16>(rounded(d, lanes));
    hn::StoreU(hn::DemoteTo(narrow, hn::BitCast(wide_signed, upper)), narrow, to);
  }

  // A lane of 32 bits holds two elements. So taken apart, none has to move to another lane.
  template <class D>
  static HWY_INLINE void load_two(D d, const Element* from, hn::Vec<D>& lower, hn::Vec<D>& upper) {
    const hn::RebindToUnsigned<D> wide;
    const hn::Repartition<Element, D> narrow;
    const auto both = hn::BitCast(wide, hn::LoadU(narrow, from));
    lower = hn::BitCast(d, hn::ShiftLeft<16>(both));
    upper = hn::BitCast(d, hn::And(both, hn::Set(wide, kUpper)));
  }
  template <class D>
  static HWY_INLINE void store_two(D d, hn::Vec<D> lower, hn::Vec<D> upper, Element* to) {
    const hn::RebindToUnsigned<D> wide;
    const hn::Repartition<Element, D> narrow;
    const auto both = hn::Or(hn::ShiftRight<16>(rounded(d, lower)),
                             hn::And(rounded(d, upper), hn::Set(wide, kUpper)));
    hn::StoreU(hn::BitCast(narrow, both), narrow, to);
  }

 private:
  static constexpr std::uint32_t kUpper = 0xffff'0000;

  // The upper half of a lane is the bfloat16; the lower one is to be dropped.
  template <class D>
  static HWY_INLINE hn::Vec<hn::RebindToUnsigned<D>> rounded(D, hn::Vec<D> lanes) {
    const hn::RebindToUnsigned<D> wide;
    const auto bits = hn::BitCast(wide, lanes);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(wide, 1));
    const auto nearest = hn::Add(bits, hn::Add(odd, hn::Set(wide, 0x7fff)));
    const auto quiet = hn::Or(bits, hn::Set(wide, 0x0040'0000));
    const auto is_nan = hn::RebindMask(wide, hn::IsNaN(lanes));
    return hn::IfThenElse(is_nan, quiet, nearest);
  }
};

// x86 has converted float16 in hardware since AVX2.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2 && !defined(HWY_DISABLE_F16C)
struct Float16Conversion {
  template <class D>
  static HWY_INLINE hn::Vec<D> widen(D d, hn::Vec<hn::Rebind<std::uint16_t, D>> bits) {
    const hn::Rebind<hwy::float16_t, D> half;
    return hn::PromoteTo(d, hn::BitCast(half, bits));
  }
  template <class D>
  static HWY_INLINE hn::Vec<hn::Rebind<std::uint16_t, D>> narrow(D, hn::Vec<D> lanes) {
    const hn::Rebind<hwy::float16_t, D> half;
    const hn::Rebind<std::uint16_t, D> bits;
    return hn::BitCast(bits, hn::DemoteTo(half, lanes));
  }
};
#else
struct Float16Conversion {
  template <class D>
  static HWY_INLINE hn::Vec<D> widen(D d, hn::Vec<hn::Rebind<std::uint16_t, D>> half) {
    const hn::RebindToSigned<D> di;
    const auto bits = hn::PromoteTo(di, half);
    const auto magnitude = hn::And(bits, hn::Set(di, 0x7fff));
    const auto sign = hn::ShiftLeft<16>(hn::Xor(bits, magnitude));
    const auto shifted = hn::ShiftLeft<13>(magnitude);

    const auto normal = hn::Add(shifted, hn::Set(di, (127 - 15) << 23));
    const auto smallest_normal = hn::Set(di, (127 - 14) << 23);
    const auto subnormal =
        hn::BitCast(di, hn::Sub(hn::BitCast(d, hn::Add(shifted, smallest_normal)),
                                hn::BitCast(d, smallest_normal)));
    const auto infinity = hn::Or(shifted, hn::Set(di, 0x7f80'0000));
    const auto quiet = hn::Or(infinity, hn::Set(di, 0x0040'0000));

    const auto special = hn::IfThenElse(hn::Gt(magnitude, hn::Set(di, 0x7c00)), quiet, infinity);
    const auto finite = hn::IfThenElse(hn::Lt(magnitude, hn::Set(di, 0x0400)), subnormal, normal);
    const auto result = hn::IfThenElse(hn::Lt(magnitude, hn::Set(di, 0x7c00)), finite, special);
    return hn::BitCast(d, hn::Or(sign, result));
  }
  template <class D>
  static HWY_INLINE hn::Vec<hn::Rebind<std::uint16_t, D>> narrow(D d, hn::Vec<D> lanes) {
    const hn::RebindToSigned<D> di;
    const auto bits = hn::BitCast(di, lanes);
    const auto magnitude = hn::And(bits, hn::Set(di, 0x7fff'ffff));
    const auto sign = hn::And(hn::ShiftRight<16>(bits), hn::Set(di, 0x8000));

    const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(di, 1));
    const auto rebased = hn::Sub(magnitude, hn::Set(di, ((127 - 15) << 23) - 0xfff));
    const auto normal = hn::Min(hn::ShiftRight<13>(hn::Add(rebased, odd)), hn::Set(di, 0x7c00));
    const auto half = hn::Set(d, 0.5f);
    const auto subnormal =
        hn::Sub(hn::BitCast(di, hn::Add(hn::BitCast(d, magnitude), half)), hn::BitCast(di, half));
    const auto payload = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(di, 0x3ff));
    const auto nan = hn::Or(payload, hn::Set(di, 0x7e00));

    const auto finite =
        hn::IfThenElse(hn::Lt(magnitude, hn::Set(di, 0x3880'0000)), subnormal, normal);
    const auto result = hn::IfThenElse(hn::Gt(magnitude, hn::Set(di, 0x7f80'0000)), nan, finite);
    return hn::DemoteTo(hn::Rebind<std::uint16_t, D>(), hn::Or(sign, result));
  }
};
#endif

struct Float16 {
  using Element = std::uint16_t;
  using Accumulator = float;
  static constexpr bool kInTwos = false;
  static constexpr bool kInParts = false;

  template <class D>
  static HWY_INLINE hn::Vec<D> load(D d, const Element* from) {
    return Float16Conversion::widen(d, hn::LoadU(hn::Rebind<Element, D>(), from));
  }
  template <class D>
  static HWY_INLINE void store(D d, hn::Vec<D> lanes, Element* to) {
    hn::StoreU(Float16Conversion::narrow(d, lanes), hn::Rebind<Element, D>(), to);
  }
};

}  // namespace rondo::core::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
