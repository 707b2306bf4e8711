#include <gtest/gtest.h>

#include <string>

#include "support/soak.hpp"
#include "support/thread_communicators.hpp"

namespace rondo::testing {
namespace {

class ConformanceSoak : public ::testing::TestWithParam<int> {};

TEST_P(ConformanceSoak, RandomOperationsKeepBeingRight) {
  const int size = GetParam();
  const double seconds = soak_seconds() / 3;
  std::uint64_t seed = soak_seed();
  for (const transport::ThreadOptions& options :
       {transport::ThreadOptions{}, {.synchronous_sends = true}, {.delay_seed = seed}}) {
    transport::ThreadWorld world(size, options);
    run_communicators(world,
                      [&](Communicator& communicator) { soak(communicator, seed, seconds); });
    ++seed;
  }
}

INSTANTIATE_TEST_SUITE_P(OnThreads, ConformanceSoak, ::testing::Values(3, 8),
                         [](const auto& test) { return std::to_string(test.param) + "_ranks"; });

}  // namespace
}  // namespace rondo::testing
