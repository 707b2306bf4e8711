#pragma once

#include <cstdint>
#include <string_view>

#include <zlib.h>

namespace rondo::train {

/// The CRC-32 of `bytes` after those that gave `before`, as zlib and zip files have it.
inline std::uint32_t crc32(std::string_view bytes, std::uint32_t before = 0) {
  if (bytes.empty()) return before;  // zlib takes a null pointer for the wish to start
  return static_cast<std::uint32_t>(
      ::crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace rondo::train
