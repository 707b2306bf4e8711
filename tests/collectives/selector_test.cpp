#include "collectives/selector.hpp"

#include <gtest/gtest.h>
#include <rondo/error.hpp>

namespace rondo::collectives {
namespace {

using enum Collective;

Request request_of(Collective collective, std::size_t bytes) {
  Request request;
  request.collective = collective;
  request.bytes = bytes;
  return request;
}

TEST(Selector, TakesFewStepsForSmallMessagesAndFewBytesForLargeOnes) {
  EXPECT_EQ(select(request_of(allreduce, 8)).algorithm->name, "recursive_doubling");
  EXPECT_EQ(select(request_of(allreduce, 100'000)).algorithm->name, "halving_doubling");
  EXPECT_EQ(select(request_of(allreduce, 100'000'000)).algorithm->name, "ring");
}

TEST(Selector, HasAnAnswerForEveryCollectiveSizeAndMode) {
  for (const Collective collective :
       {allreduce, reduce, broadcast, reduce_scatter, allgather, all_to_all, gather, scatter})
    for (const std::size_t bytes : {0UL, 1UL, 16'384UL, 16'385UL, 524'289UL, 1UL << 40})
      for (const bool deterministic : {false, true}) {
        Request request = request_of(collective, bytes);
        request.deterministic = deterministic;
        const Choice choice = select(request);
        EXPECT_EQ(choice.algorithm->collective, collective);
        EXPECT_FALSE(choice.reason.empty());
        const bool must_be_canonical = deterministic && reduces(collective);
        EXPECT_TRUE(choice.algorithm->deterministic || !must_be_canonical);
      }
}

TEST(Selector, TheCallsWordGoesBeforeTheEnvironments) {
  Request request = request_of(allreduce, 8);
  request.from_environment = "binomial_tree";
  EXPECT_EQ(select(request).algorithm->name, "binomial_tree");
  request.per_call = "ring";
  EXPECT_EQ(select(request).algorithm->name, "ring");
}

TEST(Selector, TheEnvironmentsWordCountsOnlyWhereTheCollectiveHasTheAlgorithm) {
  Request request = request_of(broadcast, 8);
  request.from_environment = "ring";
  EXPECT_EQ(select(request).algorithm->name, "binomial_tree");
  request.per_call = "ring";
  EXPECT_THROW(select(request), Error);
}

TEST(Selector, RefusesAForcedAlgorithmThatIsNotDeterministic) {
  Request request = request_of(allreduce, 8);
  request.deterministic = true;
  request.per_call = "ring";
  EXPECT_THROW(select(request), Error);
  request.per_call = "butterfly";
  EXPECT_EQ(select(request).algorithm->name, "butterfly");
}

TEST(Selector, KnowsTheNamesOfAlgorithms) {
  EXPECT_NO_THROW(check_algorithm_name("", ""));
  EXPECT_NO_THROW(check_algorithm_name("bruck", ""));
  EXPECT_THROW(check_algorithm_name("rings", "RONDO_ALGORITHM"), Error);
}

}  // namespace
}  // namespace rondo::collectives
