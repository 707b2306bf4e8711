#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>

namespace rondo::testing {

/// How many shared segments this process has mapped.
inline std::size_t shared_mappings() {
  std::ifstream maps("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(maps, line);)
    if (line.find("memfd:rondo") != std::string::npos) ++count;
  return count;
}

/// How many files this process has open.
inline std::size_t open_files() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator("/proc/self/fd"))
    ++count;
  return count;
}

}  // namespace rondo::testing
