#include "train/text_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <cerrno>
#include <memory>

#include <fmt/core.h>

#include <rondo/error.hpp>

#include "core/check.hpp"

namespace rondo::train {
namespace {

struct GzipCloser {
  void operator()(gzFile file) const { gzclose(file); }
};
using GzipFile = std::unique_ptr<std::remove_pointer_t<gzFile>, GzipCloser>;

/// zlib's reader passes through what is not compressed.
GzipFile open(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) core::throw_system("read", path, errno);
  struct stat status {};
  if (fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode)) {
    ::close(descriptor);
    core::throw_system("read", path, EISDIR);
  }
  GzipFile file(gzdopen(descriptor, "rb"));
  if (!file) {
    ::close(descriptor);
    core::throw_system("read", path, ENOMEM);
  }
  return file;
}

[[noreturn]] void throw_damaged(const std::string& path, const char* what) {
  throw Error(ErrorCode::corrupt_file,
              fmt::format("'{}' is damaged or cut short ({}); fetch it again", path, what));
}

/// A file cut short ends without an error code from gzread(); gzerror() knows.
void check_complete(gzFile file, const std::string& path) {
  int code = Z_OK;
  const char* message = gzerror(file, &code);
  if (code == Z_ERRNO) core::throw_system("read", path, errno);
  if (code != Z_OK) throw_damaged(path, message);
}

}  // namespace

std::string read_text_file(const std::string& path) {
  const GzipFile file = open(path);
  std::string text;
  std::array<char, 1 << 16> chunk;
  int count = 0;
  while ((count = gzread(file.get(), chunk.data(), chunk.size())) > 0)
    text.append(chunk.data(), static_cast<std::size_t>(count));
  check_complete(file.get(), path);
  if (path.ends_with(".gz") && gzdirect(file.get()) != 0)
    throw_damaged(path, "not a gzip file, as its name says");
  return text;
}

}  // namespace rondo::train
