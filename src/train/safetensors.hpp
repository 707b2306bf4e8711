#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <rondo/train/array.hpp>

namespace rondo::train {

/// The text that a safetensors file may carry beside its arrays.
using Metadata = std::map<std::string, std::string>;

/// Replaces the file at `path` as a whole by one in the safetensors format:
///
///   8 bytes   length of the header, little-endian
///   header    JSON: {"__metadata__": {…}, "name": {"dtype", "shape", "data_offsets"}, …}
///   data      the arrays, one after another, those with the largest elements first
///
/// Throws Error(system) as replace_file() does, Error(usage) when two arrays share a name.
void write_safetensors(const std::string& path, std::span<const ArrayView> arrays,
                       const Metadata& metadata);

/// A safetensors file in memory, checked as a whole: what this class gives out is right.
class SafetensorsFile {
 public:
  struct Array {
    DataType type;
    std::vector<std::size_t> shape;
    std::string_view bytes;
  };

  /// `contents` are the file's; `path` is for messages. Throws Error(corrupt_file) saying what is
  /// wrong with the header, or which array overlaps another, leaves a gap, or lies beyond the end.
  SafetensorsFile(std::string contents, std::string path);
  SafetensorsFile(const SafetensorsFile&) = delete;
  SafetensorsFile& operator=(const SafetensorsFile&) = delete;

  const Metadata& metadata() const { return metadata_; }
  const std::map<std::string, Array>& arrays() const { return arrays_; }

  /// Fills all of `arrays`. Throws Error(usage), before anything is written, unless the file has
  /// exactly these names, types and shapes.
  void copy_to(std::span<const ArrayView> arrays) const;

 private:
  void parse();
  void check_coverage(std::size_t data_bytes) const;
  [[noreturn]] void fail(std::string_view what) const;

  std::string contents_;
  std::string path_;
  Metadata metadata_;
  std::map<std::string, Array> arrays_;
};

}  // namespace rondo::train
