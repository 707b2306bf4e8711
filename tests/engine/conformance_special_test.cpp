#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "support/special_cases.hpp"
#include "support/thread_communicators.hpp"

namespace rondo::testing {
namespace {

class SpecialCaseOnThreads : public ::testing::TestWithParam<std::tuple<SpecialCase, int>> {};

TEST_P(SpecialCaseOnThreads, Holds) {
  const auto& [special_case, size] = GetParam();
  for (const transport::ThreadOptions& options :
       {transport::ThreadOptions{}, {.synchronous_sends = true}, {.delay_seed = 7}}) {
    transport::ThreadWorld world(size, options);
    run_communicators(world, special_case.run);
  }
}

INSTANTIATE_TEST_SUITE_P(OnThreads, SpecialCaseOnThreads,
                         ::testing::Combine(::testing::ValuesIn(special_cases().begin(),
                                                                special_cases().end()),
                                            ::testing::Values(1, 2, 3, 5, 8)),
                         [](const auto& test) {
                           return std::string(std::get<0>(test.param).name) + "_" +
                                  std::to_string(std::get<1>(test.param)) + "_ranks";
                         });

}  // namespace
}  // namespace rondo::testing
