#include "core/check.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

namespace rondo::core {
namespace {

TEST(CheckSystem, FailureNamesActionSubjectAndReason) {
  const char* path = "/nowhere/model.safetensors";
  try {
    check_system(open(path, O_RDONLY), "read", path);
    FAIL() << "nothing thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::system);
    EXPECT_STREQ(error.what(),
                 "rondo: system: cannot read '/nowhere/model.safetensors': No such file or "
                 "directory");
  }
}

TEST(CheckSystem, SuccessGivesTheResultBack) {
  EXPECT_EQ(check_system(0, "do", "this"), 0);
  EXPECT_EQ(check_system(ssize_t{4096}, "write", "that"), 4096);
}

}  // namespace
}  // namespace rondo::core
