#include "core/output_file.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

namespace {

/// Makes the n-th call (from 0) of one system call by this thread fail with `error`, or, for
/// write(), with error 0, take one byte only.
struct Fault {
  std::string call;
  int countdown = 0;
  int error = 0;
};
thread_local Fault* fault = nullptr;

bool strikes(const char* call) {
  return fault != nullptr && fault->call == call && fault->countdown-- == 0;
}

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

// These take the place of the C library's in this whole program.
extern "C" {
int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  if (strikes("open")) return errno = fault->error, -1;
  return next<int (*)(const char*, int, ...)>("open")(path, flags, mode);
}
ssize_t write(int descriptor, const void* bytes, size_t count) {
  static const auto real = next<ssize_t (*)(int, const void*, size_t)>("write");
  if (!strikes("write")) return real(descriptor, bytes, count);
  if (fault->error == 0) return real(descriptor, bytes, 1);
  errno = fault->error;
  return -1;
}
int fsync(int descriptor) {
  if (strikes("fsync")) return errno = fault->error, -1;
  return next<int (*)(int)>("fsync")(descriptor);
}
int close(int descriptor) {
  static const auto real = next<int (*)(int)>("close");
  const bool struck = strikes("close");
  const int result = real(descriptor);
  return struck ? (errno = fault->error, -1) : result;
}
int rename(const char* from, const char* to) noexcept {
  if (strikes("rename")) return errno = fault->error, -1;
  return next<int (*)(const char*, const char*)>("rename")(from, to);
}
}

namespace rondo::core {
namespace {

using rondo::testing::expect_error;
using rondo::testing::read_file;
using rondo::testing::TemporaryFolder;

class ReplaceFile : public ::testing::Test {
 protected:
  void replace() {
    const std::string_view pieces[] = {"new ", "contents"};
    replace_file(path_, pieces);
  }
  void replace_with(Fault injected) {
    fault = &injected;
    try {
      replace();
    } catch (...) {
      fault = nullptr;
      EXPECT_LT(injected.countdown, 0) << "the fault never struck";
      throw;
    }
    fault = nullptr;
    EXPECT_LT(injected.countdown, 0) << "the fault never struck";
  }
  void expect_untouched() {
    EXPECT_EQ(read_file(path_), "old");
    EXPECT_FALSE(std::filesystem::exists(path_ + ".tmp"));
  }

  TemporaryFolder folder_;
  std::string path_ = folder_.write("f", "old");
};

TEST_F(ReplaceFile, PutsTheNewInPlaceOfTheOld) {
  replace();
  EXPECT_EQ(read_file(path_), "new contents");
  EXPECT_FALSE(std::filesystem::exists(path_ + ".tmp"));
}

TEST_F(ReplaceFile, WorksWithoutAnOldFileOrAFolderInTheName) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());
  path_ = "g";
  replace();
  EXPECT_EQ(read_file("g"), "new contents");
  std::filesystem::current_path(before);
}

TEST_F(ReplaceFile, ReportsAFaultInAnySystemCallAndKeepsTheOld) {
  const Fault faults[] = {{"open", 0, EACCES},  {"write", 0, ENOSPC}, {"write", 1, EDQUOT},
                          {"write", 1, EIO},    {"fsync", 0, EIO},    {"close", 0, ENOSPC},
                          {"rename", 0, EACCES}};
  for (const Fault& injected : faults) {
    expect_error(ErrorCode::system, {path_}, [&] { replace_with(injected); });
    expect_untouched();
  }
}

TEST_F(ReplaceFile, SaysWhenOnlyTheFolderCannotBeSynced) {
  for (const Fault& injected : {Fault{"open", 1, EMFILE}, Fault{"fsync", 1, EIO}}) {
    expect_error(ErrorCode::system, {"sync the directory", path_}, [&] { replace_with(injected); });
    EXPECT_EQ(read_file(path_), "new contents");
  }
}

TEST_F(ReplaceFile, GoesOnAfterInterruptionsAndPartialWrites) {
  replace_with({"write", 0, EINTR});
  replace_with({"write", 0, 0});
  EXPECT_EQ(read_file(path_), "new contents");
}

TEST_F(ReplaceFile, ReportsAFileSizeLimitInsteadOfDyingOfItsSignal) {
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit tight{5, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &tight);
  expect_error(ErrorCode::system, {"File too large"}, [&] { replace(); });
  setrlimit(RLIMIT_FSIZE, &before);
  expect_untouched();
  sigset_t pending;
  sigpending(&pending);
  EXPECT_EQ(sigismember(&pending, SIGXFSZ), 0);
}

TEST_F(ReplaceFile, LeavesSymbolicLinksInPlace) {
  const std::string link = folder_.path("link");
  std::filesystem::create_symlink("f", link);
  path_ = link;
  replace();
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(read_file(folder_.path("f")), "new contents");
}

TEST_F(ReplaceFile, RefusesToReplaceADeviceOrAFolder) {
  path_ = "/dev/null";
  expect_error(ErrorCode::system, {"/dev/null", "not a regular file"}, [&] { replace(); });
  path_ = folder_.path();
  expect_error(ErrorCode::system, {"not a regular file"}, [&] { replace(); });
}

TEST(OutputFile, ReportsAFullDisk) {
  OutputFile file("/dev/full", OutputFile::Mode::append);
  expect_error(ErrorCode::system, {"/dev/full", "No space left"}, [&] { file.write("x"); });
}

TEST(OutputFile, ReportsAClosedPipeInsteadOfDyingOfItsSignal) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  OutputFile file("/proc/self/fd/" + std::to_string(ends[1]), OutputFile::Mode::append);
  close(ends[0]);
  close(ends[1]);
  expect_error(ErrorCode::system, {"Broken pipe"}, [&] { file.write("x"); });
}

}  // namespace
}  // namespace rondo::core
