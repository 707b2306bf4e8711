#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <rondo/train/array.hpp>

namespace rondo::train {

/// A file in the safetensors format, made of arrays that must outlive it:
///
///   8 bytes   length of the header, little-endian
///   header    JSON: {"name": {"dtype", "shape", "data_offsets"}, …}
///   data      the arrays, one after another, those with the largest elements first
class SafetensorsImage {
 public:
  /// Throws Error(usage) when two arrays share a name.
  explicit SafetensorsImage(std::span<const ArrayView> arrays);
  SafetensorsImage(const SafetensorsImage&) = delete;
  SafetensorsImage& operator=(const SafetensorsImage&) = delete;

  /// The file's contents, one after another.
  std::span<const std::string_view> pieces() const { return pieces_; }

 private:
  std::string start_;  // length and header
  std::vector<std::string_view> pieces_;
};

/// A safetensors file in memory, checked as a whole: what this class gives out is right.
class SafetensorsFile {
 public:
  struct Array {
    DataType type;
    std::vector<std::size_t> shape;
    std::size_t offset;  // in the file
    std::size_t bytes;
  };

  /// `contents` are the file's; `path` is for messages. Throws Error(corrupt_file) saying what is
  /// wrong with the header, or which array overlaps another, leaves a gap, or lies beyond the end.
  SafetensorsFile(std::string contents, std::string path);

  const std::map<std::string, Array>& arrays() const { return arrays_; }
  /// The elements of an array that is there.
  char* data(const std::string& name) { return contents_.data() + arrays_.at(name).offset; }
  const char* data(const std::string& name) const {
    return contents_.data() + arrays_.at(name).offset;
  }

  /// Throws Error(usage) unless the file has exactly these names, types and shapes.
  void check_holds(std::span<const ArrayView> arrays) const;

 private:
  void parse();
  void check_coverage(std::size_t data_begin) const;
  [[noreturn]] void fail(std::string_view what) const;

  std::string contents_;
  std::string path_;
  std::map<std::string, Array> arrays_;
};

}  // namespace rondo::train
