#include "core/output_file.hpp"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/file_faults.hpp"
#include "support/temporary_folder.hpp"

namespace rondo::core {
namespace {

using rondo::testing::expect_error;
using rondo::testing::FileFaults;
using rondo::testing::read_file;
using rondo::testing::TemporaryFolder;

class ReplaceFile : public ::testing::Test {
 protected:
  void replace() {
    const std::string_view pieces[] = {"new ", "contents"};
    replace_file(path_, pieces);
  }
  void replace_with(const FileFaults::Fault& fault) {
    faults_.strike(fault);
    try {
      replace();
    } catch (...) {
      EXPECT_EQ(faults_.struck(), fault.call);
      throw;
    }
    EXPECT_EQ(faults_.struck(), fault.call);
  }
  void expect_untouched() {
    EXPECT_EQ(read_file(path_), "old");
    EXPECT_FALSE(std::filesystem::exists(path_ + ".tmp"));
  }

  TemporaryFolder folder_;
  FileFaults faults_{folder_.path()};
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
  const FileFaults::Fault faults[] = {
      {"open", 0, EACCES}, {"write", 0, ENOSPC}, {"write", 1, EDQUOT}, {"write", 1, EIO},
      {"fsync", 0, EIO},   {"close", 0, ENOSPC}, {"rename", 0, EACCES}};
  for (const FileFaults::Fault& injected : faults) {
    expect_error(ErrorCode::system, {path_}, [&] { replace_with(injected); });
    expect_untouched();
  }
}

TEST_F(ReplaceFile, SaysWhenOnlyTheFolderCannotBeSynced) {
  for (const auto& injected :
       {FileFaults::Fault{"open", 1, EMFILE}, FileFaults::Fault{"fsync", 1, EIO}}) {
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
