#pragma once

#include <string>
#include <vector>

namespace rondo::core {

// Each throws Error(system), naming the file and what the system says.

/// The contents of a file.
std::string read_file(const std::string& path);

/// The names of all that is in a folder, in no order.
std::vector<std::string> files_in(const std::string& folder);

/// Removes a file if it is there.
void remove_file(const std::string& path);

/// Makes a folder, and those that it lies in, unless it is there; it survives a crash.
void make_folder(const std::string& path);

/// Makes it survive a crash that `path` was made, renamed or removed, where directories can be
/// synced.
void sync_directory_of(const std::string& path);

}  // namespace rondo::core
