#include <rondo/train/idx.hpp>

#include <limits>
#include <string_view>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <rondo/error.hpp>

#include "train/text_file.hpp"

namespace rondo::train {

namespace {

constexpr std::size_t kMagicBytes = 4;
constexpr std::uint8_t kUnsignedByte = 8;

template <class... Arguments>
[[noreturn]] void throw_corrupt(const std::string& path, fmt::format_string<Arguments...> format,
                                Arguments&&... arguments) {
  throw Error(ErrorCode::corrupt_file,
              fmt::format("'{}' is no IDX file of bytes: {}", path,
                          fmt::format(format, std::forward<Arguments>(arguments)...)));
}

std::uint8_t byte_at(std::string_view file, std::size_t i) {
  return static_cast<std::uint8_t>(file[i]);
}

/// The number of dimensions.
std::size_t read_magic(const std::string& path, std::string_view file) {
  if (file.size() < kMagicBytes)
    throw_corrupt(path, "it has {} bytes, but begins with {}", file.size(), kMagicBytes);
  if (byte_at(file, 0) != 0 || byte_at(file, 1) != 0 || byte_at(file, 2) != kUnsignedByte ||
      byte_at(file, 3) == 0)
    throw_corrupt(path,
                  "it begins with {:02x} {:02x} {:02x} {:02x}; expected 00 00 08 and the number of "
                  "dimensions",
                  byte_at(file, 0), byte_at(file, 1), byte_at(file, 2), byte_at(file, 3));
  return byte_at(file, 3);
}

std::vector<std::size_t> read_shape(const std::string& path, std::string_view file) {
  const std::size_t dimensions = read_magic(path, file);
  if (file.size() < kMagicBytes + 4 * dimensions)
    throw_corrupt(path, "it is cut short in the middle of its {} dimensions", dimensions);
  std::vector<std::size_t> shape;
  for (std::size_t i = kMagicBytes; i < kMagicBytes + 4 * dimensions; i += 4)
    shape.push_back(std::size_t{byte_at(file, i)} << 24 | std::size_t{byte_at(file, i + 1)} << 16 |
                    std::size_t{byte_at(file, i + 2)} << 8 | std::size_t{byte_at(file, i + 3)});
  return shape;
}

std::size_t count_of(const std::string& path, const std::vector<std::size_t>& shape) {
  std::size_t count = 1;
  for (const std::size_t extent : shape) {
    if (extent != 0 && count > std::numeric_limits<std::size_t>::max() / extent)
      throw_corrupt(path, "its dimensions {} are more than memory can hold",
                    fmt::join(shape, " × "));
    count *= extent;
  }
  return count;
}

}  // namespace

IdxArray read_idx(const std::string& path) {
  const std::string file = read_text_file(path);
  IdxArray array{read_shape(path, file), {}};
  const std::size_t count = count_of(path, array.shape);
  const std::size_t begin = kMagicBytes + 4 * array.shape.size();
  if (file.size() - begin != count)
    throw_corrupt(path, "its dimensions {} promise {} elements, but it has {}",
                  fmt::join(array.shape, " × "), count, file.size() - begin);
  array.elements.assign(file.begin() + static_cast<std::ptrdiff_t>(begin), file.end());
  return array;
}

}  // namespace rondo::train
