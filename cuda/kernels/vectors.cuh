#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/element.hpp"
#include "arguments.hpp"

/// Elements in memory and as accumulators in registers.
namespace rondo::cuda {

using core::Accumulator;

/// The hardware converts float16 as core/element.hpp does, NaN payloads aside, at once.
template <class T>
__device__ Accumulator<T> widen_lane(T value) {
  if constexpr (std::is_same_v<T, float16>) {
    float wide;
    asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(value.bits));
    return wide;
  } else {
    return core::to_accumulator(value);
  }
}

template <class T>
__device__ T narrow_lane(Accumulator<T> value) {
  if constexpr (std::is_same_v<T, float16>) {
    unsigned short bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return float16::from_bits(bits);
  } else {
    return core::from_accumulator<T>(value);
  }
}

/// Of any alignment.
template <class T>
__device__ Accumulator<T> load_one(const void* array, std::size_t i) {
  T value;
  std::memcpy(&value, static_cast<const unsigned char*>(array) + i * sizeof(T), sizeof(T));
  return widen_lane(value);
}
template <class T>
__device__ void store_one(void* array, std::size_t i, Accumulator<T> lane) {
  const T value = narrow_lane<T>(lane);
  std::memcpy(static_cast<unsigned char*>(array) + i * sizeof(T), &value, sizeof(T));
}

/// The 16 bytes that begin `shift` bytes (0 … 15) into two vectors that follow each other.
inline __device__ uint4 cut_out(uint4 low, uint4 high, unsigned shift) {
  std::uint32_t words[]{low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
  for (int i = 0; i < 6; ++i) words[i] = (shift & 8) != 0 ? words[i + 2] : words[i];
#pragma unroll
  for (int i = 0; i < 5; ++i) words[i] = (shift & 4) != 0 ? words[i + 1] : words[i];
  const unsigned bits = 8 * (shift & 3);
  return {__funnelshift_r(words[0], words[1], bits), __funnelshift_r(words[1], words[2], bits),
          __funnelshift_r(words[2], words[3], bits), __funnelshift_r(words[3], words[4], bits)};
}

// Written out, since the compiler takes vectors apart where it knows what they are made of.
inline __device__ uint4 load_vector(const void* from) {
  uint4 v;
  asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(__cvta_generic_to_global(from)));
  return v;
}
inline __device__ void store_vector(void* to, uint4 v) {
  asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(to)),
               "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w)
               : "memory");
}

/// `kLanes` elements of T in 16-byte vectors.
template <class T, int kLanes>
struct Vectors {
  static constexpr int kCount = kLanes * sizeof(T) / kVectorBytes;
  static_assert(kCount * kVectorBytes == kLanes * sizeof(T));

  uint4 vectors[kCount];

  /// From an address that is aligned, unless kShifted: then aligned vectors are read that hold
  /// more than what was asked for.
  template <bool kShifted>
  static __device__ Vectors load(const void* from) {
    Vectors result;
    if constexpr (kShifted) {
      const auto address = reinterpret_cast<std::uintptr_t>(from);
      const unsigned shift = address % kVectorBytes;
      const auto* const aligned = reinterpret_cast<const uint4*>(address - shift);
      uint4 low = load_vector(aligned);
#pragma unroll
      for (int v = 0; v < kCount; ++v) {
        const uint4 high = load_vector(aligned + v + 1);
        result.vectors[v] = cut_out(low, high, shift);
        low = high;
      }
    } else {
#pragma unroll
      for (int v = 0; v < kCount; ++v)
        result.vectors[v] = load_vector(static_cast<const uint4*>(from) + v);
    }
    return result;
  }

  __device__ void store(void* to) const {
#pragma unroll
    for (int v = 0; v < kCount; ++v) store_vector(static_cast<uint4*>(to) + v, vectors[v]);
  }

  __device__ void widen(Accumulator<T> (&lanes)[kLanes]) const {
    T elements[kLanes];
    std::memcpy(elements, vectors, sizeof(elements));
#pragma unroll
    for (int i = 0; i < kLanes; ++i) lanes[i] = widen_lane(elements[i]);
  }

  static __device__ Vectors narrow(const Accumulator<T> (&lanes)[kLanes]) {
    T elements[kLanes];
#pragma unroll
    for (int i = 0; i < kLanes; ++i) elements[i] = narrow_lane<T>(lanes[i]);
    Vectors result;
    std::memcpy(result.vectors, elements, sizeof(elements));
    return result;
  }
};

}  // namespace rondo::cuda
