#include "core/log.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <thread>
#include <vector>

namespace rondo::core {
namespace {

class LogTest : public testing::Test {
 protected:
  void TearDown() override {
    set_log_rank(-1);
    set_log_level(LogLevel::warning);
  }

  template <class Function>
  static std::string printed_by(Function function) {
    testing::internal::CaptureStderr();
    function();
    return testing::internal::GetCapturedStderr();
  }
};

TEST_F(LogTest, LineCarriesRankAndLevel) {
  set_log_rank(3);
  EXPECT_EQ(printed_by([] { log(LogLevel::warning, "slow"); }), "rondo [rank 3] warning: slow\n");
}

TEST_F(LogTest, LineHasNoRankUntilItIsKnown) {
  EXPECT_EQ(printed_by([] { log(LogLevel::error, "early"); }), "rondo error: early\n");
}

TEST_F(LogTest, LinesBelowTheLevelAreNotPrinted) {
  EXPECT_EQ(printed_by([] { log(LogLevel::info, "detail"); }), "");
  set_log_level(LogLevel::debug);
  EXPECT_EQ(printed_by([] { log(LogLevel::debug, "detail"); }), "rondo debug: detail\n");
  set_log_level(LogLevel::error);
  EXPECT_EQ(printed_by([] { log(LogLevel::warning, "detail"); }), "");
}

TEST_F(LogTest, LongAndEmptyMessagesArriveWhole) {
  const std::string text(5'000, 'x');
  EXPECT_EQ(printed_by([&] { log(LogLevel::error, text); }), "rondo error: " + text + "\n");
  EXPECT_EQ(printed_by([&] { log(LogLevel::error, ""); }), "rondo error: \n");
}

TEST_F(LogTest, ThreadsDoNotMixTheirLines) {
  const std::string output = printed_by([] {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([] {
        for (int i = 0; i < 100; ++i) log(LogLevel::error, "line");
      });
    for (std::thread& thread : threads) thread.join();
  });
  std::string expected;
  for (int i = 0; i < 400; ++i) expected += "rondo error: line\n";
  EXPECT_EQ(output, expected);
}

TEST_F(LogTest, ClosedStderrIsIgnoredAndErrnoKept) {
  const int kept = dup(STDERR_FILENO);
  ASSERT_EQ(close(STDERR_FILENO), 0);
  errno = 42;
  log(LogLevel::error, "nobody hears this");
  const int after = errno;
  ASSERT_EQ(dup2(kept, STDERR_FILENO), STDERR_FILENO);
  ASSERT_EQ(close(kept), 0);
  EXPECT_EQ(after, 42);
}

}  // namespace
}  // namespace rondo::core
