#include <rondo/communicator.hpp>

#include <cmath>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "support/thread_communicators.hpp"

namespace rondo {
namespace {

TEST(Communicator, AllreduceSumsOverRanks) {
  testing::run_communicators(4, [](Communicator& world) {
    std::vector<float> data(1000);
    std::iota(data.begin(), data.end(), static_cast<float>(world.rank()));
    world.allreduce(std::span(data), ReduceOp::sum, {.algorithm = "ring", .segment_bytes = 256});
    for (std::size_t i = 0; i < data.size(); ++i)
      ASSERT_EQ(data[i], 4.0F * static_cast<float>(i) + 6.0F) << i;
  });
}

TEST(Communicator, ScalesInputsHoweverFewRanksThereAre) {
  for (const int ranks : {1, 2, 3})
    testing::run_communicators(ranks, [&](Communicator& world) {
      std::vector<double> data(5, 6.0);
      world.allreduce(std::span(data), ReduceOp::sum, {.scale = 0.5});
      for (const double element : data) EXPECT_EQ(element, 3.0 * ranks);
    });
}

TEST(Communicator, ScalesByTheSignOfZeroToo) {
  testing::run_communicators(2, [](Communicator& world) {
    for (const double zero : {0.0, -0.0, 0.0}) {
      float data = 1;
      world.allreduce(std::span(&data, 1), ReduceOp::sum, {.scale = zero});
      EXPECT_EQ(std::signbit(data), std::signbit(zero)) << zero;
    }
  });
}

TEST(Communicator, TellsWhichAlgorithmServedLast) {
  testing::run_communicators(3, [](Communicator& world) {
    std::vector<float> data(100);
    world.allreduce(std::span(data), ReduceOp::sum, {.algorithm = "ring"});
    EXPECT_EQ(world.last_algorithm(), "ring");
    world.broadcast(std::span(data), 1, {.algorithm = "chain"});
    EXPECT_EQ(world.last_algorithm(), "chain");
    world.barrier();
    EXPECT_EQ(world.last_algorithm(), "");
    world.split(0).broadcast(std::span(data), 0);
    EXPECT_EQ(world.last_algorithm(), "") << "communicators are apart";
  });
}

TEST(Communicator, TellsBothSidesOfAMismatch) {
  const auto errors = testing::errors_of_communicators(3, [](Communicator& world) {
    std::vector<float> data(world.rank() == 2 ? 11 : 10);
    world.allreduce(std::span(data), ReduceOp::sum);
  });
  for (const auto& error : errors) {
    ASSERT_TRUE(error);
    try {
      std::rethrow_exception(error);
    } catch (const Error& caught) {
      EXPECT_EQ(caught.code(), ErrorCode::mismatch);
      EXPECT_NE(std::string(caught.what()).find("rank 2"), std::string::npos) << caught.what();
      EXPECT_NE(std::string(caught.what()).find("of 11 float32"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace rondo
