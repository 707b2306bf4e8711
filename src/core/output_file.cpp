#include "core/output_file.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/core.h>

#include <rondo/error.hpp>

#include "core/check.hpp"
#include "core/files.hpp"

namespace rondo::core {
namespace {

/// Holds back, in this thread, the signals with which the kernel accompanies EFBIG and EPIPE and
/// which would end the process.
class HeldSignals {
 public:
  HeldSignals() {
    sigemptyset(&held_);
    sigaddset(&held_, SIGXFSZ);
    sigaddset(&held_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &held_, &before_);
  }
  ~HeldSignals() {
    const timespec at_once{};
    while (sigtimedwait(&held_, nullptr, &at_once) > 0) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

 private:
  sigset_t held_;
  sigset_t before_;
};

}  // namespace

OutputFile::OutputFile(std::string path, Mode mode) : path_(std::move(path)) {
  const int how = mode == Mode::replace ? O_TRUNC : O_APPEND;
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | how, 0666);
  if (descriptor_ < 0) fail("write", errno);
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void OutputFile::write(std::string_view bytes) {
  const HeldSignals held;
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write", errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void OutputFile::sync() {
  if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != EROFS) fail("sync", errno);
}

void OutputFile::close() {
  if (::close(std::exchange(descriptor_, -1)) != 0) fail("close", errno);
}

void OutputFile::fail(std::string_view action, int error) const {
  throw_system(action, path_, error);
}

namespace {

/// Where `path` leads if it is a symbolic link, so that the link stays one.
std::string resolve(const std::string& path) {
  std::error_code error;
  const std::filesystem::path target = std::filesystem::weakly_canonical(path, error);
  return error ? path : target.string();
}

/// Where the new contents of a file are written.
std::string temporary_for(const std::string& target) { return target + ".tmp"; }

/// Renaming over a device or a pipe would destroy it.
void check_regular(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    throw Error(ErrorCode::system,
                fmt::format("cannot write '{}': it exists and is not a regular file", path));
}

void write_and_sync(const std::string& path, std::span<const std::string_view> pieces) {
  OutputFile file(path, OutputFile::Mode::replace);
  for (const std::string_view piece : pieces) file.write(piece);
  file.sync();
  file.close();
}

}  // namespace

void replace_file(const std::string& path, std::span<const std::string_view> pieces) {
  check_regular(path);
  const std::string target = resolve(path);
  const std::string temporary = temporary_for(target);
  try {
    write_and_sync(temporary, pieces);
    if (::rename(temporary.c_str(), target.c_str()) != 0) throw_system("replace", path, errno);
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  sync_directory_of(target);
}

void check_replaceable(const std::string& path) {
  check_regular(path);
  const std::string temporary = temporary_for(resolve(path));
  try {
    OutputFile(temporary, OutputFile::Mode::replace).close();
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  remove_file(temporary);
}

}  // namespace rondo::core
