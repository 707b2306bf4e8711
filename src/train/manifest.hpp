#pragma once

#include <cstdint>
#include <string>

#include <rondo/train/checkpoint.hpp>

namespace rondo::train {

/// What tells a file from a damaged one.
struct FileSummary {
  std::string name;  // without its folder
  std::uint64_t bytes = 0;
  std::uint32_t crc32 = 0;
};

/// The part of a checkpoint that is JSON, and that makes it one.
struct Manifest {
  Position position;
  Settings settings;
  Settings notes;
  FileSummary arrays;
};

/// The manifest's file, with a checksum of its own.
std::string encode(const Manifest& manifest);

/// What encode() made into `text`. Throws Error(corrupt_file) naming `path`.
Manifest decode_manifest(const std::string& text, const std::string& path);

/// Throws Error(usage), naming all that differs, unless the settings of the checkpoint at `path`
/// are those of now.
void check_settings(const Settings& then, const Settings& now, const std::string& path);

}  // namespace rondo::train
