#include "transport/shm_segment.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>

#include <rondo/error.hpp>

#include "support/shared_mappings.hpp"
#include "transport/shm_names.hpp"

namespace rondo::transport {
namespace {

int interruptions = 0;  // how many more calls of posix_fallocate a signal interrupts

constexpr std::size_t kMebibyte = std::size_t{1024} * 1024;

/// Whether `body` is true in another process, a child of this one.
bool is_true_in_a_child(const std::function<bool()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    bool result = false;
    try {
      result = body();
    } catch (...) {
    }
    _exit(result ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(SharedSegment, IsZeroAndPageAligned) {
  const auto segment = SharedSegment::create(10'000);
  EXPECT_EQ(segment->bytes(), 10'000U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(segment->data()) % 4096, 0U);
  EXPECT_EQ(std::count(segment->data(), segment->data() + 10'000, std::byte{0}), 10'000);
}

TEST(SharedSegment, AnotherProcessSeesAndChangesIt) {
  const auto segment = SharedSegment::create(100);
  std::memcpy(segment->data(), "from here", 10);
  EXPECT_TRUE(is_true_in_a_child([&] {
    const auto peers = SharedSegment::open(segment->name());
    if (peers->data() == segment->data() || peers->bytes() != 100) return false;
    if (std::memcmp(peers->data(), "from here", 10) != 0) return false;
    std::memcpy(peers->data() + 50, "from there", 11);
    return true;
  }));
  EXPECT_STREQ(reinterpret_cast<const char*>(segment->data() + 50), "from there");
}

TEST(SharedSegment, InItsOwnProcessItIsTheSame) {
  const auto segment = SharedSegment::create(100);
  EXPECT_EQ(SharedSegment::open(segment->name()), segment);
}

TEST(SharedSegment, NothingStaysOpenOrMapped) {
  const std::size_t files = testing::open_files();
  const std::size_t mappings = testing::shared_mappings();
  for (int i = 0; i < 100; ++i) SharedSegment::create(5'000);
  EXPECT_EQ(testing::open_files(), files);
  EXPECT_EQ(testing::shared_mappings(), mappings);
}

TEST(SharedSegment, APeerKeepsNoFileOpen) {
  const auto segment = SharedSegment::create(100);
  EXPECT_TRUE(is_true_in_a_child([&] {
    const std::size_t files = testing::open_files();
    const auto peers = SharedSegment::open(segment->name());
    return testing::open_files() == files;
  }));
}

TEST(SharedSegment, ADiscardedOneKeepsNoFileOpenAndCanStillBeTouched) {
  const auto segment = SharedSegment::create(100);
  const std::size_t files = testing::open_files();
  segment->data()[7] = std::byte{7};
  segment->discard();
  segment->discard();
  EXPECT_EQ(testing::open_files(), files - 1);
  EXPECT_EQ(segment->data()[7], std::byte{0});
}

TEST(SharedSegment, AnotherSegmentUnderTheSameDescriptorIsRefused) {
  auto segment = SharedSegment::create(100);
  const SegmentName old = segment->name();
  segment.reset();
  segment = SharedSegment::create(100);
  ASSERT_EQ(segment->name().file, old.file);
  EXPECT_TRUE(is_true_in_a_child([&] {
    try {
      SharedSegment::open(old);
      return false;
    } catch (const Error& error) {
      return error.code() == ErrorCode::system &&
             std::strstr(error.what(), "its owner freed") != nullptr;
    }
  }));
}

/// Anything may take the descriptor of a segment that is gone.
TEST(SharedSegment, AFileThatIsNoSegmentIsRefused) {
  auto segment = SharedSegment::create(100);
  const SegmentName old = segment->name();
  segment.reset();
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const int null_device = open("/dev/null", O_RDWR);
  const int short_file = open("/tmp", O_TMPFILE | O_RDWR, 0600);
  for (const int file : {ends[0], null_device, short_file, 9999}) {
    const SegmentName wrong{old.process, file, old.serial};
    EXPECT_TRUE(is_true_in_a_child([&] {
      try {
        SharedSegment::open(wrong);
        return false;
      } catch (const Error& error) {
        return error.code() == ErrorCode::system;
      }
    })) << file;
  }
  for (const int file : {ends[0], ends[1], null_device, short_file}) close(file);
}

/// Newer kernels don't, but the manual says that they may.
TEST(SharedSegment, IsMadeThoughSignalsInterruptTheKernel) {
  interruptions = 5;
  const auto segment = SharedSegment::create(3 * kMebibyte);
  EXPECT_EQ(interruptions, 0);
  struct stat status {};
  ASSERT_EQ(fstat(segment->name().file, &status), 0);
  EXPECT_GE(static_cast<std::size_t>(status.st_blocks) * 512, 3 * kMebibyte) << "committed";
}

TEST(SharedSegment, TooLittleMemoryIsAnErrorThatNamesTheSize) {
  limit_segments(10'000);
  const std::size_t files = testing::open_files();
  EXPECT_NO_THROW(SharedSegment::create(10'000));
  try {
    SharedSegment::create(10'001);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::system);
    EXPECT_NE(std::string(error.what()).find("10001 bytes"), std::string::npos) << error.what();
  }
  EXPECT_EQ(testing::open_files(), files);
  limit_segments(std::numeric_limits<std::size_t>::max());
}

bool exists(const SegmentName& name) { return std::filesystem::exists(named_file(name)); }

// In processes of their own, since there is no way back from names.

TEST(SharedSegment, WithANameItIsReachedAndLeavesNothing) {
  EXPECT_TRUE(is_true_in_a_child([] {
    name_segments();
    auto segment = SharedSegment::create(100);
    const SegmentName first = segment->name();
    segment->data()[7] = std::byte{7};
    const bool reached = is_true_in_a_child(
        [&] { return exists(first) && SharedSegment::open(first)->data()[7] == std::byte{7}; });
    const bool kept = exists(first);
    segment->forget_name();
    const bool forgotten = !exists(first);
    segment = SharedSegment::create(100);
    const SegmentName second = segment->name();
    segment.reset();
    return reached && kept && forgotten && !exists(second);
  }));
}

/// Of a segment with a name that a process never dropped, which then came to its end so.
SegmentName kept_until(void (*end)(int status)) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  SegmentName name;
  is_true_in_a_child([&] {
    name_segments();
    const auto* segment = new auto(SharedSegment::create(100));
    const bool told = write(ends[1], &(*segment)->name(), sizeof name) == sizeof name;
    end(0);
    return told;
  });
  EXPECT_EQ(read(ends[0], &name, sizeof name), static_cast<ssize_t>(sizeof name));
  for (const int file : ends) close(file);
  return name;
}

TEST(SharedSegment, NoNameOutlivesAnOrderlyEnd) { EXPECT_FALSE(exists(kept_until(std::exit))); }

TEST(SharedSegment, ASweepTakesWhatDeadProcessesLeft) {
  const SegmentName left = kept_until(_exit);
  EXPECT_TRUE(exists(left));
  EXPECT_TRUE(is_true_in_a_child([&] {
    name_segments();
    const auto living = SharedSegment::create(100);
    sweep_named_files();
    return exists(living->name()) && !exists(left);
  }));
}

}  // namespace
}  // namespace rondo::transport

// In place of the C library's.
extern "C" int posix_fallocate(int file, off_t offset, off_t bytes) {
  if (rondo::transport::interruptions > 0) return --rondo::transport::interruptions, EINTR;
  return syscall(SYS_fallocate, file, 0, offset, bytes) == 0 ? 0 : errno;
}
