#include "support/file_faults.hpp"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdarg>
#include <utility>

namespace rondo::testing {
namespace {

std::atomic<FileFaults*> current = nullptr;
std::array<std::atomic<bool>, 1024> watched;  // by descriptor

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

constexpr int kNone = -1;

bool is_watched(int descriptor) {
  return current != nullptr && descriptor >= 0 && descriptor < 1024 && watched[descriptor];
}

int enter(const char* call, const char* path) {
  FileFaults* const faults = current;
  return faults != nullptr && faults->watches(path) ? faults->enter(call) : kNone;
}

int enter(const char* call, int descriptor) {
  return is_watched(descriptor) ? current.load()->enter(call) : kNone;
}

int fail(int error) {
  errno = error;
  return -1;
}

}  // namespace

FileFaults::FileFaults(std::string folder) : folder_(std::move(folder)) {
  if (folder_.ends_with('/')) folder_.pop_back();
  current = this;
}

FileFaults::~FileFaults() { current = nullptr; }

void FileFaults::strike(Fault fault) {
  fault_ = std::move(fault);
  struck_ = false;
  countdown_ = fault_.n;
}

int FileFaults::enter(const char* call) {
  if (before_each_) before_each_();
  if (!fault_.call.empty() && fault_.call != call) return kNone;
  if (struck_ || countdown_.fetch_sub(1) != 0) return kNone;
  struck_call_ = call;
  struck_ = true;
  return fault_.error;
}

}  // namespace rondo::testing

// These take the place of the C library's in the whole program.
extern "C" {
int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  static const auto real = rondo::testing::next<int (*)(const char*, int, ...)>("open");
  if (const int error = rondo::testing::enter("open", path); error > 0)
    return rondo::testing::fail(error);
  const int descriptor = real(path, flags, mode);
  rondo::testing::FileFaults* const faults = rondo::testing::current;
  if (descriptor >= 0 && descriptor < 1024)
    rondo::testing::watched[descriptor] = faults != nullptr && faults->watches(path);
  return descriptor;
}
ssize_t write(int descriptor, const void* bytes, size_t count) {
  static const auto real = rondo::testing::next<ssize_t (*)(int, const void*, size_t)>("write");
  const int error = rondo::testing::enter("write", descriptor);
  if (error > 0) return rondo::testing::fail(error);
  return real(descriptor, bytes, error == 0 ? 1 : count);
}
int fsync(int descriptor) {
  static const auto real = rondo::testing::next<int (*)(int)>("fsync");
  const int error = rondo::testing::enter("fsync", descriptor);
  if (error > 0) return rondo::testing::fail(error);
  return rondo::testing::is_watched(descriptor) ? 0 : real(descriptor);
}
int close(int descriptor) {
  static const auto real = rondo::testing::next<int (*)(int)>("close");
  const int error = rondo::testing::enter("close", descriptor);
  if (descriptor >= 0 && descriptor < 1024) rondo::testing::watched[descriptor] = false;
  const int result = real(descriptor);  // even a close that fails closes
  return error > 0 ? rondo::testing::fail(error) : result;
}
int rename(const char* from, const char* to) noexcept {
  static const auto real = rondo::testing::next<int (*)(const char*, const char*)>("rename");
  const int error = rondo::testing::enter("rename", from);
  return error > 0 ? rondo::testing::fail(error) : real(from, to);
}
int mkdir(const char* path, mode_t mode) noexcept {
  static const auto real = rondo::testing::next<int (*)(const char*, mode_t)>("mkdir");
  const int error = rondo::testing::enter("mkdir", path);
  return error > 0 ? rondo::testing::fail(error) : real(path, mode);
}
int unlink(const char* path) noexcept {
  static const auto real = rondo::testing::next<int (*)(const char*)>("unlink");
  const int error = rondo::testing::enter("unlink", path);
  return error > 0 ? rondo::testing::fail(error) : real(path);
}
DIR* opendir(const char* path) {
  static const auto real = rondo::testing::next<DIR* (*)(const char*)>("opendir");
  const int error = rondo::testing::enter("opendir", path);
  return error > 0 ? (errno = error, nullptr) : real(path);
}
}
