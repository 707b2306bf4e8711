#include "split.hpp"

#include <algorithm>
#include <cstdint>

namespace rondo::cuda {

namespace {

/// Bytes from the last aligned address at or before this one.
std::size_t behind_alignment(const void* address, std::size_t offset = 0) {
  return (reinterpret_cast<std::uintptr_t>(address) + offset) % kVectorBytes;
}

}  // namespace

Split split(ElementSizes sizes, std::span<const void* const> sources, const void* out,
            std::size_t count) {
  Split result{.count = count};
  const std::size_t behind = behind_alignment(out);
  if (behind % sizes.out != 0) return result;
  std::size_t head = (kVectorBytes - behind) % kVectorBytes / sizes.out;
  result.shifted = std::ranges::any_of(
      sources, [&](const void* source) { return behind_alignment(source, head * sizes.in) != 0; });
  std::size_t tail = 0;
  if (result.shifted) {
    // A vector that holds the first or last bytes of a step may begin or end a vector away.
    while (head * sizes.in < kVectorBytes) head += kVectorBytes / sizes.out;
    tail = kVectorBytes / sizes.in;
  }
  if (count < head + tail) return result;
  const std::size_t lanes = kVectorBytes / std::min(sizes.in, sizes.out);
  result.head = head;
  result.steps = (count - head - tail) / lanes;
  return result;
}

}  // namespace rondo::cuda
