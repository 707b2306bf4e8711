#include "collectives/program.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace rondo::collectives {
namespace {

bool waits_for(const Program& program, int step, int earlier) {
  const auto dependencies = program.dependencies(step);
  return std::any_of(dependencies.begin(), dependencies.end(),
                     [&](const Dependency& dependency) { return dependency.step == earlier; });
}

TEST(Program, AStepWaitsForTheLastWriterOfWhatItReads) {
  Plan plan(0, 2, 2);
  plan.receive({1, 0}, Action::reduce);  // 0: writes block 0
  plan.receive({1, 1}, Action::reduce);  // 1: writes block 1
  plan.send({1, 1}, Action::reduce);     // 2: reads block 1
  const Program program(plan, {});
  EXPECT_TRUE(waits_for(program, 2, 1));
  EXPECT_FALSE(waits_for(program, 2, 0));
}

TEST(Program, AWriteWaitsForEarlierReadsAlsoOfTheInputAtTheSamePlace) {
  Plan plan(0, 2, 1);
  plan.send({1, 0}, Action::copy);     // 0: reads input block 0
  plan.receive({1, 0}, Action::copy);  // 1: writes output block 0, in place the same memory
  EXPECT_TRUE(waits_for(Program(plan, {}), 1, 0));
  Binding binding;
  binding.separate = true;
  EXPECT_FALSE(waits_for(Program(plan, binding), 1, 0));
}

TEST(Program, AStepOnSeveralBlocksWaitsForTheWriterOfEach) {
  Plan plan(0, 2, 2);
  plan.receive({1, 0}, Action::reduce);
  plan.receive({1, 1}, Action::reduce);
  plan.send({1, 0, 2}, Action::reduce);
  const Program program(plan, {});
  EXPECT_TRUE(waits_for(program, 2, 0));
  EXPECT_TRUE(waits_for(program, 2, 1));
}

TEST(Program, LoadsEachInputBlockOnceAndReadsWhatWasLoaded) {
  Plan plan(0, 2, 1);
  plan.send({1, 0}, Action::reduce);
  plan.receive({1, 0}, Action::reduce);
  Binding binding;
  binding.load_inputs = true;
  const Program program(plan, binding);
  ASSERT_EQ(program.steps().size(), 3U);
  EXPECT_EQ(program.steps()[0].kind, StepKind::copy);
  EXPECT_EQ(program.steps()[1].source.space, Space::output);
  EXPECT_TRUE(waits_for(program, 1, 0));
}

TEST(Program, RenumbersRanksForARootAndSplitsRangesOfBlocksThatWrap) {
  Plan plan(0, 4, 4);
  plan.receive({2, 1, 3}, Action::copy);  // plan blocks 1-3
  Binding binding;
  binding.root = 2;
  binding.rotate_blocks = true;
  const Program program(plan, binding);
  ASSERT_EQ(program.steps().size(), 2U);
  EXPECT_EQ(program.steps()[0].peer, 0);
  EXPECT_EQ(program.steps()[0].target, (Place{Space::output, 3, 1}));
  EXPECT_EQ(program.steps()[1].target, (Place{Space::output, 0, 2}));
}

TEST(Program, MessagesOfOnePairOnOneChannelMakeOneStream) {
  Plan plan(0, 3, 2);
  plan.send({1, 0}, Action::copy);
  plan.send({1, 1}, Action::copy);
  plan.send({1, 0}, Action::copy, 1);
  plan.send({2, 0}, Action::copy);
  const Program program(plan, {});
  ASSERT_EQ(program.streams().size(), 3U);
  EXPECT_EQ(program.streams()[0].steps, (std::vector<int>{0, 1}));
}

}  // namespace
}  // namespace rondo::collectives
