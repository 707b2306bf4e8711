#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/copy.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>

#include <hwy/cache_control.h>

#include "core/copy.hpp"

HWY_BEFORE_NAMESPACE();
namespace rondo::core::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
void copy_past_caches(const std::uint8_t* source, std::uint8_t* target, std::size_t bytes) {
  constexpr hn::ScalableTag<std::uint8_t> d;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t misaligned = reinterpret_cast<std::uintptr_t>(target) % lanes;
  std::size_t i = misaligned == 0 ? 0 : std::min(lanes - misaligned, bytes);
  std::memcpy(target, source, i);
  for (; bytes - i >= 4 * lanes; i += 4 * lanes) {
    const auto lanes0 = hn::LoadU(d, source + i);
    const auto lanes1 = hn::LoadU(d, source + i + lanes);
    const auto lanes2 = hn::LoadU(d, source + i + 2 * lanes);
    const auto lanes3 = hn::LoadU(d, source + i + 3 * lanes);
    hn::Stream(lanes0, d, target + i);
    hn::Stream(lanes1, d, target + i + lanes);
    hn::Stream(lanes2, d, target + i + 2 * lanes);
    hn::Stream(lanes3, d, target + i + 3 * lanes);
  }
  std::memcpy(target + i, source + i, bytes - i);
}

}  // namespace rondo::core::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rondo::core {

HWY_EXPORT(copy_past_caches);

void stream_copy(const void* source, void* target, std::size_t bytes) {
  if (bytes == 0) return;
  HWY_DYNAMIC_DISPATCH(copy_past_caches)
  (static_cast<const std::uint8_t*>(source), static_cast<std::uint8_t*>(target), bytes);
  hwy::FlushStream();
}

std::size_t last_cache_bytes() {
  static const std::size_t bytes = [] {
    // What sysconf says may be the sum over all sockets of the host of a virtual machine.
    std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index3/size");
    std::size_t kibibytes = 0;
    constexpr std::size_t kUsual = std::size_t{32} * 1024;
    return 1024 * (file >> kibibytes && kibibytes > 0 ? kibibytes : kUsual);
  }();
  return bytes;
}

}  // namespace rondo::core
#endif
