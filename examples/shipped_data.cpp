#include "shipped_data.hpp"

#include <filesystem>
#include <system_error>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <rondo/error.hpp>

std::string find_shipped_data(const std::string& name) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error).parent_path();
  std::vector<std::string> places;
  for (const fs::path& folder :
       {program, program / "../share/rondo/data", fs::path(RONDO_SOURCE_DATA)}) {
    const fs::path file = (folder / name).lexically_normal();
    if (fs::is_regular_file(file, error)) return file.string();
    places.push_back(file.string());
  }
  throw rondo::Error(rondo::ErrorCode::system,
                     fmt::format("the data file '{}' is in none of {}; name a file with --data",
                                 name, fmt::join(places, ", ")));
}
