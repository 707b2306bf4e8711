#include "train/safetensors.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <rondo/error.hpp>

namespace rondo::train {
namespace {

using nlohmann::json;

static_assert(std::endian::native == std::endian::little, "data is written as it lies in memory");

constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kLargestHeader = 100'000'000;  // the format's own limit
constexpr const char* kMetadataKey = "__metadata__";

struct TypeName {
  DataType type;
  std::string_view name;
};
constexpr std::array<TypeName, kDataTypes> kTypeNames{{
    {DataType::int8, "I8"},
    {DataType::uint8, "U8"},
    {DataType::int32, "I32"},
    {DataType::uint32, "U32"},
    {DataType::int64, "I64"},
    {DataType::uint64, "U64"},
    {DataType::float16, "F16"},
    {DataType::bfloat16, "BF16"},
    {DataType::float32, "F32"},
    {DataType::float64, "F64"},
}};

std::string_view type_name(DataType type) {
  return std::ranges::find(kTypeNames, type, &TypeName::type)->name;
}

std::string make_header(std::span<const ArrayView> arrays) {
  json header = json::object();
  std::size_t offset = 0;
  for (const ArrayView& array : arrays) {
    if (array.name == kMetadataKey || header.contains(array.name))
      throw Error(ErrorCode::usage,
                  fmt::format("two arrays of a checkpoint are called '{}'", array.name));
    header[array.name] = {{"dtype", type_name(array.type)},
                          {"shape", array.shape},
                          {"data_offsets", {offset, offset + array.bytes()}}};
    offset += array.bytes();
  }
  std::string text = header.dump();
  text.resize((text.size() + kLengthBytes - 1) / kLengthBytes * kLengthBytes, ' ');
  return text;
}

/// Bytes of an array of this shape; empty when that exceeds std::size_t.
std::optional<std::size_t> bytes_of(DataType type, const std::vector<std::size_t>& shape) {
  std::size_t bytes = size_of(type);
  for (const std::size_t extent : shape) {
    if (extent != 0 && bytes > std::numeric_limits<std::size_t>::max() / extent) return {};
    bytes *= extent;
  }
  return bytes;
}

}  // namespace

SafetensorsImage::SafetensorsImage(std::span<const ArrayView> arrays) {
  // Larger elements first, so that every array is aligned to its elements.
  std::vector<ArrayView> sorted(arrays.begin(), arrays.end());
  std::ranges::stable_sort(sorted, std::ranges::greater{},
                           [](const ArrayView& array) { return size_of(array.type); });
  const std::string header = make_header(sorted);
  const std::uint64_t length = header.size();
  start_.assign(reinterpret_cast<const char*>(&length), kLengthBytes);
  start_ += header;
  pieces_.emplace_back(start_);
  for (const ArrayView& array : sorted)
    pieces_.emplace_back(static_cast<const char*>(array.data), array.bytes());
}

SafetensorsFile::SafetensorsFile(std::string contents, std::string path)
    : contents_(std::move(contents)), path_(std::move(path)) {
  try {
    parse();
  } catch (const json::exception& error) {
    fail(fmt::format("its header is not what it should be ({})", error.what()));
  }
}

void SafetensorsFile::parse() {
  if (contents_.size() < kLengthBytes) fail("it is cut short");
  std::uint64_t length = 0;
  std::memcpy(&length, contents_.data(), kLengthBytes);
  if (length > kLargestHeader) fail("its header cannot be that long; it is no safetensors file");
  if (length > contents_.size() - kLengthBytes) fail("it is cut short within its header");

  const std::string_view text = std::string_view(contents_).substr(kLengthBytes, length);
  const std::size_t data_begin = kLengthBytes + length;
  const std::size_t data_bytes = contents_.size() - data_begin;
  for (const auto& [name, entry] : json::parse(text).get<std::map<std::string, json>>()) {
    if (name == kMetadataKey) continue;
    const auto dtype = entry.at("dtype").get<std::string>();
    const auto type = std::ranges::find(kTypeNames, dtype, &TypeName::name);
    if (type == kTypeNames.end()) fail(fmt::format("'{}' has the unknown type {}", name, dtype));
    for (const char* key : {"shape", "data_offsets"})
      for (const json& number : entry.at(key))
        if (!number.is_number_unsigned())
          fail(fmt::format("a number in the {} of '{}' is negative or not whole", key, name));
    const auto shape = entry.at("shape").get<std::vector<std::size_t>>();
    const auto [begin, end] = entry.at("data_offsets").get<std::array<std::size_t, 2>>();
    if (begin > end || end > data_bytes)
      fail(fmt::format("'{}' lies beyond the end; the file is cut short", name));
    if (bytes_of(type->type, shape) != end - begin)
      fail(fmt::format("the shape of '{}' does not fit its {} bytes", name, end - begin));
    arrays_[name] = {type->type, shape, data_begin + begin, end - begin};
  }
  check_coverage(data_begin);
}

/// In the order of their offsets, each array must begin where the one before it ends.
void SafetensorsFile::check_coverage(std::size_t data_begin) const {
  std::vector<std::pair<std::size_t, std::size_t>> ranges;
  for (const auto& [name, array] : arrays_) ranges.emplace_back(array.offset, array.bytes);
  std::ranges::sort(ranges);
  std::size_t position = data_begin;
  for (const auto& [offset, bytes] : ranges) {
    if (offset != position) fail("its arrays overlap or leave a gap");
    position += bytes;
  }
  if (position != contents_.size()) fail("there are bytes after the last array");
}

void SafetensorsFile::check_holds(std::span<const ArrayView> arrays) const {
  std::map<std::string, Array> left = arrays_;
  for (const ArrayView& array : arrays) {
    const auto found = left.extract(array.name);
    if (found.empty())
      throw Error(ErrorCode::usage, fmt::format("'{}' has no array '{}'", path_, array.name));
    if (found.mapped().type != array.type || found.mapped().shape != array.shape)
      throw Error(ErrorCode::usage,
                  fmt::format("'{}' in '{}' is {} [{}], but {} [{}] is needed", array.name, path_,
                              name_of(found.mapped().type), fmt::join(found.mapped().shape, ", "),
                              name_of(array.type), fmt::join(array.shape, ", ")));
  }
  if (!left.empty())
    throw Error(ErrorCode::usage, fmt::format("'{}' holds '{}', for which there is no use here",
                                              path_, left.begin()->first));
}

void SafetensorsFile::fail(std::string_view what) const {
  throw Error(ErrorCode::corrupt_file, fmt::format("'{}' cannot be used: {}", path_, what));
}

}  // namespace rondo::train
