#include "transport/launcher.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace rondo::transport {
namespace {

std::optional<LauncherHint> hint_in(const std::map<std::string, std::string>& environment) {
  return launched_as_one_of_several([&environment](const char* name) -> const char* {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  });
}

TEST(Launcher, SaysNothingWithoutALauncher) { EXPECT_FALSE(hint_in({{"PATH", "/bin"}})); }

TEST(Launcher, RecognisesTheSizeThatEachLauncherTells) {
  for (const char* name :
       {"OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    const auto hint = hint_in({{name, "4"}});
    ASSERT_TRUE(hint) << name;
    EXPECT_EQ(hint->variable, name);
    EXPECT_EQ(hint->value, "4");
    EXPECT_FALSE(hint_in({{name, "1"}})) << name;
  }
}

TEST(Launcher, ARankOtherThanZeroTellsThatThereAreSeveral) {
  EXPECT_TRUE(hint_in({{"PMIX_RANK", "2"}}));
  EXPECT_TRUE(hint_in({{"PMI_RANK", "1"}}));
  EXPECT_FALSE(hint_in({{"PMIX_RANK", "0"}}));
}

TEST(Launcher, AJobOfOneStartedFromALargerJobIsAlone) {
  EXPECT_FALSE(hint_in({{"SLURM_STEP_NUM_TASKS", "8"}, {"OMPI_COMM_WORLD_SIZE", "1"}}));
}

TEST(Launcher, IgnoresTheTasksOfAnAllocationOutsideOfAStep) {
  EXPECT_FALSE(hint_in({{"SLURM_NTASKS", "8"}}));
}

}  // namespace
}  // namespace rondo::transport
