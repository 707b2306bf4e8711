#include "transport/memory_room.hpp"

#include <gtest/gtest.h>
#include <sys/sysinfo.h>

#include <fstream>
#include <limits>
#include <string>

#include "support/temporary_folder.hpp"

namespace rondo::transport {
namespace {

constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();

void write(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

// That a segment beyond it is refused can't be tried: were it not, the kernel would kill whom it
// likes.
TEST(MemoryRoom, IsNoMoreThanTheMachineHas) {
  struct sysinfo machine {};
  ASSERT_EQ(sysinfo(&machine), 0);
  EXPECT_GT(memory_room(), std::size_t{1024} * 1024);
  EXPECT_LE(memory_room(), machine.totalram * machine.mem_unit);
}

TEST(MemoryRoom, OfAControlGroupIsItsLimitLessWhatCannotBeReclaimed) {
  const testing::TemporaryFolder top;
  write(top.path("job/memory.max"), "10000\n");
  write(top.path("job/memory.current"), "7000\n");
  write(top.path("job/memory.stat"), "anon 3000\ninactive_file 1500\nactive_file 500\nfile 9\n");
  EXPECT_EQ(control_group_room(top.path(), "job"), 5'000U);
  write(top.path("job/memory.max"), "max\n");
  EXPECT_EQ(control_group_room(top.path(), "job"), kUnlimited);
  write(top.path("job/memory.max"), "4000\n");
  EXPECT_EQ(control_group_room(top.path(), "job"), 0U) << "it uses more than its limit";
}

TEST(MemoryRoom, OfTheOlderVersionIsFoundToo) {
  const testing::TemporaryFolder top;
  write(top.path("job/memory.limit_in_bytes"), "10000\n");
  write(top.path("job/memory.usage_in_bytes"), "7000\n");
  write(top.path("job/memory.stat"), "inactive_file 1\ntotal_inactive_file 2000\n");
  EXPECT_EQ(control_group_room(top.path(), "job"), 5'000U);
}

TEST(MemoryRoom, IsTheLeastOfAllGroupsAbove) {
  const testing::TemporaryFolder top;
  write(top.path("memory.max"), "9000\n");
  write(top.path("a/memory.max"), "300\n");
  write(top.path("a/b/memory.max"), "5000\n");
  EXPECT_EQ(control_group_room(top.path(), "a/b"), 300U);
  EXPECT_EQ(control_group_room(top.path(), "elsewhere"), 9'000U) << "the folder is the host's";
}

TEST(MemoryRoom, HasNoLimitWithoutControlGroups) {
  const testing::TemporaryFolder top;
  EXPECT_EQ(control_group_room(top.path(), ""), kUnlimited);
}

}  // namespace
}  // namespace rondo::transport
