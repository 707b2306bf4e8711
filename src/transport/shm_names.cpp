#include "transport/shm_names.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "core/check.hpp"

namespace rondo::transport {

namespace {

constexpr std::string_view kPrefix = "rondo-";

std::string shm_name(const SegmentName& segment) {
  return fmt::format("/{}{}-{:016x}", kPrefix, segment.process, segment.serial);
}

/// False if a sweep came between its making and its locking.
bool lock(int file, const std::string& name) {
  core::check_system(flock(file, LOCK_SH), "lock", name);
  struct stat status {};
  core::check_system(fstat(file, &status), "look at", name);
  return status.st_nlink > 0;
}

void remove_if_stale(const std::string& name) {
  const int file = shm_open(name.c_str(), O_RDWR | O_CLOEXEC, 0);
  if (file < 0) return;
  if (flock(file, LOCK_EX | LOCK_NB) == 0) shm_unlink(name.c_str());
  close(file);
}

}  // namespace

std::string named_file(const SegmentName& segment) { return "/dev/shm" + shm_name(segment); }

int create_named_file(const SegmentName& segment) {
  static std::once_flag swept;
  std::call_once(swept, sweep_named_files);
  const std::string name = shm_name(segment);
  while (true) {
    const int file = core::check_system(
        shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600), "create", name);
    if (lock(file, name)) return file;
    close(file);
  }
}

int open_named_file(const SegmentName& segment) {
  const std::string name = shm_name(segment);
  return core::check_system(shm_open(name.c_str(), O_RDWR | O_CLOEXEC, 0), "open", name);
}

void remove_named_file(const SegmentName& segment) noexcept {
  try {
    shm_unlink(shm_name(segment).c_str());
  } catch (const std::bad_alloc&) {  // the next process sweeps
  }
}

void sweep_named_files() noexcept try {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm", ignored)) {
    const std::string name = entry.path().filename();
    if (name.starts_with(kPrefix)) remove_if_stale("/" + name);
  }
} catch (const std::exception&) {  // another will
}

}  // namespace rondo::transport
