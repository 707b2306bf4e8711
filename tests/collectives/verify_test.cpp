#include "collectives/verify.hpp"

#include <functional>

#include <gtest/gtest.h>

#include "collectives/registry.hpp"

namespace rondo::collectives {
namespace {

using transport::Topology;

std::vector<Plan> plans_of(const Algorithm& algorithm, const Topology& topology) {
  std::vector<Plan> plans;
  for (Rank rank = 0; rank < topology.size(); ++rank)
    plans.push_back(algorithm.plan({rank, topology.size(), &topology}));
  return plans;
}

/// A plan with the same blocks and other steps.
Plan with_steps(const Plan& plan, const std::vector<Step>& steps) {
  Plan changed(plan.rank(), plan.size(), plan.blocks());
  for (const int like : plan.scratch()) changed.add_scratch(like);
  for (const Step& step : steps) changed.add(step);
  return changed;
}

/// Four ranks' ring all-reduce, which each test breaks in one way.
class BrokenRing : public testing::Test {
 protected:
  void change(Rank rank, const std::function<void(std::vector<Step>&)>& how) {
    Plan& plan = plans_[static_cast<std::size_t>(rank)];
    std::vector<Step> steps = plan.steps();
    how(steps);
    plan = with_steps(plan, steps);
  }

  std::string fault(const Trial& trial = {}) const {
    return find_fault(plans_, Collective::allreduce, Layout::even(10, 4), trial).value_or("none");
  }

  std::vector<Plan> plans_ =
      plans_of(find_algorithm(Collective::allreduce, "ring"), Topology::spread(4));
};

TEST_F(BrokenRing, IsRightAsItWas) { EXPECT_EQ(fault(), "none"); }

TEST_F(BrokenRing, DroppedSend) {
  change(1, [](auto& steps) { steps.erase(steps.begin()); });
  EXPECT_NE(fault().find("rank 1 sends 5 messages to rank 2"), std::string::npos) << fault();
}

TEST_F(BrokenRing, EveryDroppedStepIsFound) {
  const std::size_t count = plans_[2].steps().size();
  for (std::size_t dropped = 0; dropped < count; ++dropped) {
    const auto before = plans_;
    change(2, [&](auto& steps) { steps.erase(steps.begin() + static_cast<long>(dropped)); });
    EXPECT_NE(fault(), "none") << "without step " << dropped;
    plans_ = before;
  }
}

TEST_F(BrokenRing, EveryDuplicatedStepIsFound) {
  const std::size_t count = plans_[2].steps().size();
  for (std::size_t twice = 0; twice < count; ++twice) {
    const auto before = plans_;
    change(2, [&](auto& steps) {
      const Step step = steps[twice];
      steps.insert(steps.begin() + static_cast<long>(twice), step);
    });
    EXPECT_NE(fault(), "none") << "with step " << twice << " twice";
    plans_ = before;
  }
}

TEST_F(BrokenRing, EverySwappedPeerIsFound) {
  const std::size_t count = plans_[2].steps().size();
  for (std::size_t swapped = 0; swapped < count; ++swapped) {
    const auto before = plans_;
    if (plans_[2].steps()[swapped].peer < 0) continue;
    change(2, [&](auto& steps) { steps[swapped].peer = 4 - steps[swapped].peer; });
    EXPECT_NE(fault(), "none") << "with another peer in step " << swapped;
    plans_ = before;
  }
}

TEST_F(BrokenRing, EveryWrongBlockIsFound) {
  const std::size_t count = plans_[2].steps().size();
  for (std::size_t moved = 0; moved < count; ++moved) {
    const auto before = plans_;
    change(2, [&](auto& steps) {
      Place& place = steps[moved].reads_source() ? steps[moved].source : steps[moved].target;
      place.first = (place.first + 1) % 4;
    });
    EXPECT_NE(fault(), "none") << "with another block in step " << moved;
    plans_ = before;
  }
}

TEST_F(BrokenRing, BlockSentAndReceivedConsistentlyButTwice) {
  // Rank 1's first message to rank 2 is repeated on both sides: rank 1 counts double.
  change(1, [](auto& steps) { steps.insert(steps.begin(), steps.front()); });
  change(2, [](auto& steps) {
    Step again = steps[1];
    steps[1].source.space = Space::output;
    steps.insert(steps.begin() + 1, again);
  });
  EXPECT_NE(fault().find("counts a rank twice"), std::string::npos) << fault();
}

TEST_F(BrokenRing, SendBeforeItsValueIsFinished) {
  change(0, [](auto& steps) {
    std::erase_if(steps, [](const Step& s) { return s.kind == StepKind::finish; });
  });
  EXPECT_NE(fault().find("takes a partial value for a finished"), std::string::npos) << fault();
}

/// What is wrong with two or three hand-written plans of an all-reduce of two blocks.
std::string fault_of(const std::vector<Plan>& plans, const Trial& trial = {}) {
  return find_fault(plans, Collective::allreduce, Layout::even(4, 2), trial).value_or("none");
}

/// Both ranks send their inputs; rank 1 only after it has reduced into its output.
std::vector<Plan> input_read_late() {
  std::vector<Plan> plans{Plan(0, 2, 2), Plan(1, 2, 2)};
  plans[0].exchange({1, 0, 2}, {1, 0, 2}, Action::reduce);
  plans[1].receive({0, 0, 2}, Action::reduce);
  plans[1].add({.kind = StepKind::send, .peer = 0, .source = {Space::input, 0, 2}});
  for (Plan& plan : plans) plan.complete(0, 2);
  return plans;
}

TEST(Verify, ReadingAnInputAfterItsOutputWasWrittenIsWrongInPlace) {
  EXPECT_EQ(fault_of(input_read_late(), {.in_place = false}), "none");
  const std::string fault = fault_of(input_read_late(), {.in_place = true});
  EXPECT_NE(fault.find("reads an input that was overwritten"), std::string::npos) << fault;
}

TEST(Verify, ReadingAnOutputThatOnlyTheInputFillsIsWrongOutOfPlace) {
  std::vector<Plan> plans = input_read_late();
  Plan wrong(1, 2, 2);
  wrong.add({.kind = StepKind::send, .peer = 0, .source = {Space::output, 0, 2}});
  wrong.receive({0, 0, 2}, Action::reduce);
  wrong.complete(0, 2);
  plans[1] = wrong;
  EXPECT_NE(fault_of(plans, {.in_place = false}), "none");
  EXPECT_NE(fault_of(plans, {.in_place = true}), "none");
}

TEST(Verify, FindsTheDeadlockOfRanksThatReceiveBeforeTheySend) {
  std::vector<Plan> plans{Plan(0, 2, 2), Plan(1, 2, 2)};
  for (Plan& plan : plans) {
    const Rank peer = 1 - plan.rank();
    plan.receive({peer, 0}, Action::reduce);
    plan.send({peer, 0}, Action::reduce);
  }
  EXPECT_NE(fault_of(plans).find("deadlocked"), std::string::npos) << fault_of(plans);
}

/// Rank 1 can reduce block 1 only when block 0, which queues behind it, has left rank 0.
std::vector<Plan> needing_two_slots() {
  std::vector<Plan> plans{Plan(0, 3, 2), Plan(1, 3, 2), Plan(2, 3, 2)};
  plans[0].send({1, 1}, Action::reduce);
  plans[0].send({1, 0}, Action::reduce);
  plans[0].receive({2, 0}, Action::reduce);
  plans[0].send({2, 0}, Action::reduce);
  plans[1].receive({2, 0, 2}, Action::reduce);
  plans[1].receive({0, 1}, Action::reduce);
  plans[1].receive({0, 0}, Action::reduce);
  plans[2].add({.kind = StepKind::copy, .source = {Space::input, 1}, .target = {Space::output, 1}});
  plans[2].send({0, 0}, Action::reduce);
  plans[2].add({.kind = StepKind::receive, .peer = 0, .target = {Space::output, 0}});
  plans[2].send({1, 0, 2}, Action::reduce);
  return plans;
}

TEST(Verify, FindsTheDeadlockThatOnlyAWiderWindowAvoids) {
  const std::string narrow = fault_of(needing_two_slots(), {.window = 1});
  const std::string wide = fault_of(needing_two_slots(), {.window = 2});
  EXPECT_NE(narrow.find("deadlocked"), std::string::npos) << narrow;
  EXPECT_EQ(wide.find("deadlocked"), std::string::npos) << wide;
}

TEST(Verify, OtherBitsOnAnotherRankAreFound) {
  // Rank 0 computes (0+1)+2, rank 1 and rank 2 compute 0+(1+2).
  std::vector<Plan> plans{Plan(0, 3, 1), Plan(1, 3, 1), Plan(2, 3, 1)};
  plans[0].send({1, 0}, Action::reduce);
  plans[0].receive({1, 0}, Action::reduce);
  plans[0].receive({2, 0}, Action::reduce);
  plans[1].send({0, 0}, Action::reduce);
  plans[1].receive({2, 0}, Action::reduce);
  plans[1].receive({0, 0}, Action::reduce);
  plans[1].send({2, 0}, Action::copy, 1);
  plans[2].send({0, 0}, Action::reduce);
  plans[2].send({1, 0}, Action::reduce);
  plans[2].receive({1, 0}, Action::copy, 1);
  for (Plan& plan : plans) plan.complete(0, 1);
  const auto fault = find_fault(plans, Collective::allreduce, Layout::even(4, 1), {});
  EXPECT_NE(fault.value_or("none").find("other bits"), std::string::npos) << *fault;
}

TEST(Verify, AnotherThanTheCanonicalValueIsFound) {
  const Topology spread = Topology::spread(3);
  const auto plans = plans_of(find_algorithm(Collective::allreduce, "ring"), spread);
  const auto fault =
      find_fault(plans, Collective::allreduce, Layout::even(6, 3), {.canonical = &spread});
  EXPECT_NE(fault.value_or("none").find("canonical"), std::string::npos) << *fault;
}

TEST(Verify, ReducingDifferentElementsIsFound) {
  std::vector<Plan> plans{Plan(0, 2, 2), Plan(1, 2, 2)};
  const int scratch = plans[1].add_scratch(0);
  plans[0].send({1, 0}, Action::reduce);
  plans[1].add({.kind = StepKind::receive, .peer = 0, .target = {Space::scratch, scratch}});
  plans[1].add({.kind = StepKind::copy, .source = {Space::input, 1}, .target = {Space::output, 1}});
  plans[1].add({.kind = StepKind::reduce,
                .source = {Space::scratch, scratch},
                .target = {Space::output, 1}});
  EXPECT_NE(fault_of(plans).find("different elements"), std::string::npos) << fault_of(plans);
}

TEST(Verify, SentElementsAreCountedByTheLayout) {
  const Plan plan = find_algorithm(Collective::allgather, "ring").plan({0, 3, nullptr});
  EXPECT_EQ(elements_sent(plan, Layout::uneven(std::vector<std::size_t>{5, 7, 11})), 5u + 11u);
}

}  // namespace
}  // namespace rondo::collectives
