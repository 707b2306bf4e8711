#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/stream_copy.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include <hwy/cache_control.h>

#include "core/stream_copy.hpp"

HWY_BEFORE_NAMESPACE();
namespace rondo::core::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

void stream_copy_lanes(const std::uint8_t* source, std::uint8_t* target, std::size_t bytes) {
  constexpr hn::ScalableTag<std::uint8_t> d;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t misaligned = reinterpret_cast<std::uintptr_t>(target) % lanes;
  std::size_t i = misaligned == 0 ? 0 : std::min(lanes - misaligned, bytes);
  std::memcpy(target, source, i);
  for (; bytes - i >= 4 * lanes; i += 4 * lanes) {
    const auto a = hn::LoadU(d, source + i);
    const auto b = hn::LoadU(d, source + i + lanes);
    const auto c = hn::LoadU(d, source + i + 2 * lanes);
    const auto e = hn::LoadU(d, source + i + 3 * lanes);
    hn::Stream(a, d, target + i);
    hn::Stream(b, d, target + i + lanes);
    hn::Stream(c, d, target + i + 2 * lanes);
    hn::Stream(e, d, target + i + 3 * lanes);
  }
  std::memcpy(target + i, source + i, bytes - i);
}

}  // namespace rondo::core::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rondo::core {

HWY_EXPORT(stream_copy_lanes);

void stream_copy(const void* source, void* target, std::size_t bytes) {
  if (bytes == 0) return;
  HWY_DYNAMIC_DISPATCH(stream_copy_lanes)
  (static_cast<const std::uint8_t*>(source), static_cast<std::uint8_t*>(target), bytes);
  hwy::FlushStream();
}

}  // namespace rondo::core
#endif
