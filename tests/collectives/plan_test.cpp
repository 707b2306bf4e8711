#include "collectives/plan.hpp"

#include <gtest/gtest.h>

#include "collectives/registry.hpp"

namespace rondo::collectives {
namespace {

TEST(Plan, ReadsTheInputUntilTheOutputWasWritten) {
  Plan plan(0, 2, 2);
  plan.send({1, 0}, Action::reduce);
  plan.receive({1, 1}, Action::reduce);
  plan.receive({1, 1}, Action::reduce);
  ASSERT_EQ(plan.steps().size(), 3u);
  EXPECT_EQ(plan.steps()[0].source, (Place{Space::input, 0, 1}));
  EXPECT_EQ(plan.steps()[1].source, (Place{Space::input, 1, 1}));
  EXPECT_EQ(plan.steps()[2].source, (Place{Space::output, 1, 1}));
}

TEST(Plan, FinishesAPartialBlockBeforeItIsCopiedToOthers) {
  Plan plan(0, 2, 1);
  plan.receive({1, 0}, Action::reduce);
  plan.send({1, 0}, Action::copy);
  plan.send({1, 0}, Action::copy);
  ASSERT_EQ(plan.steps().size(), 4u);
  EXPECT_EQ(plan.steps()[1].kind, StepKind::finish);
  EXPECT_EQ(plan.steps()[2].value, Value::finished);
  EXPECT_EQ(plan.steps()[3].source, (Place{Space::output, 0, 1}));
}

TEST(Plan, CompleteFinishesWhatIsLeftInFewSteps) {
  Plan plan(0, 2, 6);
  plan.receive({1, 2, 2}, Action::reduce);
  plan.receive({1, 4}, Action::copy);
  plan.complete(0, 6);
  const std::vector<Step> finishes(plan.steps().begin() + 2, plan.steps().end());
  ASSERT_EQ(finishes.size(), 3u);
  EXPECT_EQ(finishes[0].source, (Place{Space::input, 0, 2}));
  EXPECT_EQ(finishes[1].source, (Place{Space::output, 2, 2}));
  EXPECT_EQ(finishes[2].source, (Place{Space::input, 5, 1}));
  EXPECT_EQ(finishes[2].target, (Place{Space::output, 5, 1}));
}

TEST(Plan, ScratchBlocksAreNumberedAndRememberTheirSize) {
  Plan plan(0, 2, 3);
  EXPECT_EQ(plan.add_scratch(2), 0);
  EXPECT_EQ(plan.add_scratch(0), 1);
  EXPECT_EQ(plan.scratch(), (std::vector<int>{2, 0}));
}

}  // namespace
}  // namespace rondo::collectives
