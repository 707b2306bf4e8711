#include "collectives/selector.hpp"

#include <gtest/gtest.h>
#include <rondo/error.hpp>

#include "collectives/agreement.hpp"
#include "support/expect_error.hpp"

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
  Request medium = request_of(allreduce, 50'000);
  medium.ranks = 4;
  EXPECT_EQ(select(medium).algorithm->name, "halving_doubling");
  medium.ranks = 5;
  EXPECT_EQ(select(medium).algorithm->name, "ring") << "no extra rank sends everything";
  medium.ranks = 8;
  EXPECT_EQ(select(medium).algorithm->name, "halving_doubling");
  EXPECT_EQ(select(request_of(allreduce, 100'000'000)).algorithm->name, "ring");
}

TEST(Selector, PipelinesLongMessagesThroughAChainOfFewRanksAndTreesOfMany) {
  for (const Collective collective : {broadcast, reduce}) {
    const auto chosen = [&](int ranks, std::size_t bytes) {
      Request request = request_of(collective, bytes);
      request.ranks = ranks;
      return select(request).algorithm->name;
    };
    EXPECT_EQ(chosen(4, 8'192), "binomial_tree");
    EXPECT_EQ(chosen(4, 8'193), "double_binary_tree");
    EXPECT_EQ(chosen(4, 100'000), "chain");
    EXPECT_EQ(chosen(5, 100'000), "double_binary_tree");
  }
}

TEST(Selector, LetsSmallDataRideOnTheAgreement) {
  Request request = request_of(allreduce, 8);
  request.ranks = request.nodes = 4;
  request.piggyback = true;
  EXPECT_EQ(select(request).algorithm->name, "piggyback");
  request.deterministic = true;
  EXPECT_EQ(select(request).algorithm->name, "piggyback") << "a butterfly of nodes";
  request.nodes = 2;
  EXPECT_EQ(select(request).algorithm->name, "butterfly_small");
  request.deterministic = false;
  request.bytes = piggyback_limit(allreduce, 4) + 1;
  EXPECT_EQ(select(request).algorithm->name, "ring");
}

TEST(Selector, RefusesThePiggybackByNameWhereItCannotServe) {
  Request request = request_of(allreduce, piggyback_limit(allreduce, 4) + 1);
  request.ranks = 4;
  request.piggyback = true;
  request.per_call = "piggyback";
  EXPECT_THROW(select(request), Error) << "too long";
  request.bytes = 8;
  EXPECT_EQ(select(request).algorithm->name, "piggyback");
  request.piggyback = false;
  EXPECT_THROW(select(request), Error) << "no messages";
  request.per_call = {};
  request.from_environment = "piggyback";
  EXPECT_EQ(select(request).algorithm->name, "recursive_doubling");
}

TEST(Selector, TakesFewerStepsWhereThereAreManyRanks) {
  Request request = request_of(allreduce, 8);
  request.ranks = 64;
  EXPECT_EQ(select(request).algorithm->name, "recursive_quadrupling");
  request.bytes = 8 << 20;
  EXPECT_EQ(select(request).algorithm->name, "quartering_quadrupling");
  EXPECT_GE(select(request).segment_bytes, request.bytes / 4) << "each exchange is one message";
  request.segment_bytes = 1000;
  EXPECT_EQ(select(request).segment_bytes, 1000) << "the caller's word";
  request.segment_bytes = 0;
  request.bytes = 1 << 30;
  EXPECT_EQ(select(request).algorithm->name, "ring");
}

TEST(Selector, HasAnAnswerForEveryCollectiveSizeAndMode) {
  for (const Collective collective :
       {allreduce, reduce, broadcast, reduce_scatter, allgather, all_to_all, gather, scatter})
    for (const std::size_t bytes : {0UL, 1UL, 16'384UL, 16'385UL, 524'289UL, 1UL << 40})
      for (const auto& [ranks, deterministic] :
           {std::pair(1, false), std::pair(1, true), std::pair(64, false), std::pair(64, true)}) {
        Request request = request_of(collective, bytes);
        request.ranks = ranks;
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

TEST(Selector, TakesTheVendorsCollectiveByNameOnlyWhereItKeepsTheContracts) {
  Request request = request_of(allreduce, 8);
  request.per_call = "vendor";
  EXPECT_THROW(select(request), Error) << "there is none";
  request.vendor = true;
  EXPECT_EQ(select(request).algorithm->name, "vendor");
  const auto refused = [](Request changed, auto change, const char* why) {
    change(changed);
    testing::expect_error(ErrorCode::usage, {"vendor", why}, [&] { select(changed); });
  };
  refused(
      request, [](Request& r) { r.op = ReduceOp::min; }, "min of float32");
  refused(
      request, [](Request& r) { r.op = ReduceOp::avg; }, "avg of float32");
  refused(
      request, [](Request& r) { r.type = DataType::bfloat16; }, "sum of bfloat16");
  refused(
      request, [](Request& r) { r.type = DataType::int8; }, "sum of int8");
  refused(
      request, [](Request& r) { r.op = ReduceOp::max, r.type = DataType::uint32; },
      "max of uint32");
  refused(
      request, [](Request& r) { r.scaled = true; }, "scaled");
  refused(
      request, [](Request& r) { r.uneven = true; }, "one size");
  refused(
      request, [](Request& r) { r.bytes = std::size_t{1} << 34; }, "2147483647 elements");
  refused(
      request, [](Request& r) { r.deterministic = true; }, "deterministic");
  request.op = ReduceOp::min;
  request.type = DataType::int32;
  EXPECT_EQ(select(request).algorithm->name, "vendor");
}

TEST(Selector, LetsDevicesReachEachOtherWhereTheyCanAndNothingElseIsAskedFor) {
  Request request = request_of(allreduce, 8);
  request.peers = true;
  request.deterministic = true;
  request.bytes = std::size_t{256} << 10;
  EXPECT_EQ(select(request).algorithm->name, "device_one_shot");
  ++request.bytes;
  EXPECT_EQ(select(request).algorithm->name, "device_two_shot");
  request.from_environment = "butterfly";
  EXPECT_EQ(select(request).algorithm->name, "butterfly");
  request.from_environment = "device_one_shot";
  EXPECT_EQ(select(request).algorithm->name, "device_one_shot");
  request.ranks = 129;
  EXPECT_EQ(select(request).algorithm->name, "butterfly");
  request.per_call = "device_one_shot";
  testing::expect_error(ErrorCode::usage, {"device_one_shot", "up to 128 ranks"},
                        [&] { select(request); });
}

TEST(Selector, TakesTheDevicesCollectiveWhereItKeepsTheContractsAndElseAnother) {
  Request request = request_of(allreduce, 8);
  request.group = true;
  EXPECT_EQ(select(request).algorithm->name, "nccl");
  const auto left_alone = [&](auto change, const char* why) {
    Request changed = request;
    change(changed);
    EXPECT_NE(select(changed).algorithm->name, "nccl") << why;
    changed.per_call = "nccl";
    testing::expect_error(ErrorCode::usage, {"nccl", why}, [&] { select(changed); });
  };
  left_alone([](Request& r) { r.group = false; }, "a device of its own");
  left_alone([](Request& r) { r.uneven = true; }, "one size");
  left_alone([](Request& r) { r.scaled = true; }, "scaled");
  left_alone([](Request& r) { r.op = ReduceOp::max; }, "max of float32");
  left_alone([](Request& r) { r.op = ReduceOp::avg, r.ranks = 6; }, "avg of float32");
  left_alone([](Request& r) { r.type = DataType::float16; }, "sum of float16");
  left_alone([](Request& r) { r.deterministic = true; }, "deterministic");
  request.op = ReduceOp::avg;
  request.type = DataType::bfloat16;
  request.narrow = true;
  EXPECT_EQ(select(request).algorithm->name, "nccl");
}

TEST(Selector, KnowsTheNamesOfAlgorithms) {
  EXPECT_NO_THROW(check_algorithm_name("", ""));
  EXPECT_NO_THROW(check_algorithm_name("bruck", ""));
  EXPECT_THROW(check_algorithm_name("rings", "RONDO_ALGORITHM"), Error);
}

}  // namespace
}  // namespace rondo::collectives
