#pragma once

#include <string>

namespace rondo::train {

/// The contents of a file, decompressed when it is a gzip file (told by its first bytes; one whose
/// name ends in .gz must be one). Throws Error(system) when it cannot be read, and
/// Error(corrupt_file) when the compressed data is damaged or cut short.
std::string read_text_file(const std::string& path);

}  // namespace rondo::train
