#include "transport/memory_room.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <limits>
#include <string>

namespace rondo::transport {

namespace {

using std::filesystem::path;

constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();

/// The files of one version of control groups.
struct Version {
  const char* mount;
  const char* selector;  // in /proc/self/cgroup: its lines are "number:selector:folder"
  const char* limit;
  const char* usage;
  std::array<const char*, 2> reclaimable;  // lines of memory.stat
};
constexpr std::array kVersions{
    Version{"/sys/fs/cgroup", "", "memory.max", "memory.current", {"inactive_file", "active_file"}},
    Version{"/sys/fs/cgroup/memory",
            "memory",
            "memory.limit_in_bytes",
            "memory.usage_in_bytes",
            {"total_inactive_file", "total_active_file"}}};

/// The number in a file, or `otherwise`: there is no such file, or it says "max".
std::size_t number_in(const path& file, std::size_t otherwise) {
  std::ifstream stream(file);
  std::size_t number = 0;
  return stream >> number ? number : otherwise;
}

/// The number behind a name in a file of such lines; 0 where there is none.
std::size_t number_behind(const std::string& name, const path& file) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);)
    if (line.starts_with(name) && line.find_first_of(": ") == name.size())
      return std::stoull(line.substr(name.size() + 1));
  return 0;
}

std::size_t room_of(const Version& version, const path& folder) {
  const std::size_t limit = number_in(folder / version.limit, kUnlimited);
  if (limit == kUnlimited) return kUnlimited;
  std::size_t reclaimable = 0;
  for (const char* name : version.reclaimable)
    reclaimable += number_behind(name, folder / "memory.stat");
  const std::size_t usage = number_in(folder / version.usage, 0);
  const std::size_t pinned = usage - std::min(usage, reclaimable);
  return limit - std::min(limit, pinned);
}

/// This process's control group of that version, relative to where they are mounted. Within a
/// container it may name a folder that only the host sees; then the top is all there is.
path own_control_group(const Version& version) {
  std::ifstream stream("/proc/self/cgroup");
  for (std::string line; std::getline(stream, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second != std::string::npos &&
        line.substr(first + 1, second - first - 1) == version.selector)
      return path(line.substr(second + 1)).relative_path();
  }
  return {};
}

}  // namespace

std::size_t control_group_room(const path& top, path folder) {
  std::size_t room = kUnlimited;
  while (true) {
    for (const Version& version : kVersions) room = std::min(room, room_of(version, top / folder));
    if (folder.empty()) return room;
    folder = folder.parent_path();
  }
}

std::size_t memory_room() {
  const std::size_t kibibytes = number_behind("MemAvailable", "/proc/meminfo");
  std::size_t room = kibibytes == 0 ? kUnlimited : kibibytes * 1024;
  for (const Version& version : kVersions)
    room = std::min(room, control_group_room(version.mount, own_control_group(version)));
  return room;
}

}  // namespace rondo::transport
