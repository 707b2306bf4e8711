#include "train/all_finite.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace rondo::train {

namespace {

/// Sign, magnitude and infinity of a floating type whose elements are as large as Bits. Magnitudes
/// of infinities and NaNs, and of nothing else, carry into the sign when `carry` is added.
template <class Bits>
bool all_finite(const void* data, std::size_t count, Bits infinity) {
  constexpr Bits kSign = Bits{1} << (8 * sizeof(Bits) - 1);
  constexpr std::size_t kBlock = 4096;  // between two looks at what was found
  const auto carry = static_cast<Bits>(kSign - infinity);
  const auto* bytes = static_cast<const unsigned char*>(data);
  for (std::size_t begin = 0; begin < count; begin += kBlock) {
    const std::size_t end = std::min(count, begin + kBlock);
    Bits found = 0;
    for (std::size_t i = begin; i < end; ++i) {
      Bits bits;
      std::memcpy(&bits, bytes + i * sizeof(Bits), sizeof(Bits));
      found |= static_cast<Bits>(static_cast<Bits>(bits & static_cast<Bits>(~kSign)) + carry);
    }
    if ((found & kSign) != 0) return false;
  }
  return true;
}

}  // namespace

bool all_finite(ConstBuffer data) {
  switch (data.type) {
    case DataType::float16:
      return all_finite<std::uint16_t>(data.data, data.count, 0x7c00);
    case DataType::bfloat16:
      return all_finite<std::uint16_t>(data.data, data.count, 0x7f80);
    case DataType::float32:
      return all_finite<std::uint32_t>(data.data, data.count, 0x7f80'0000);
    default:
      return all_finite<std::uint64_t>(data.data, data.count, 0x7ff0'0000'0000'0000);
  }
}

}  // namespace rondo::train
