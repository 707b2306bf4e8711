#include <rondo/train/agree.hpp>

#include <stdexcept>

#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/thread_communicators.hpp"

namespace rondo::train {
namespace {

using rondo::testing::errors_of_communicators;
using rondo::testing::expect_error;
using rondo::testing::run_communicators;

TEST(Agree, ReturnsWhenNobodyThrew) {
  run_communicators(3, [](Communicator& communicator) {
    int calls = 0;
    agree(communicator, [&] { ++calls; });
    EXPECT_EQ(calls, 1);
  });
}

TEST(Agree, ThrowsTheLowestRanksErrorEverywhere) {
  const auto errors = errors_of_communicators(4, [](Communicator& communicator) {
    agree(communicator, [&] {
      if (communicator.rank() == 1) throw Error(ErrorCode::corrupt_file, "the first trouble");
      if (communicator.rank() == 2) throw std::runtime_error("another");
    });
  });
  for (const std::exception_ptr& error : errors) {
    ASSERT_NE(error, nullptr);
    EXPECT_THROW(std::rethrow_exception(error), SharedError);
    expect_error(ErrorCode::corrupt_file, {"rondo: corrupt_file: rank 1: the first trouble"},
                 [&] { std::rethrow_exception(error); });
  }
}

TEST(Agree, CanGoOnAfterwards) {
  run_communicators(2, [](Communicator& communicator) {
    EXPECT_THROW(agree(communicator, [] { throw std::runtime_error("all of us"); }), SharedError);
    agree(communicator, [] {});
  });
}

}  // namespace
}  // namespace rondo::train
