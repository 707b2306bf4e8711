#pragma once

#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <cstdint>
#include <string>

#include "core/reduce.hpp"

namespace rondo::core {

/// Runs each test once for every instruction set that was compiled in and that this machine has.
class InstructionSetTest : public testing::TestWithParam<std::int64_t> {
 public:
  static std::string name(const testing::TestParamInfo<std::int64_t>& info) {
    return hwy::TargetName(info.param);
  }

 protected:
  void SetUp() override {
    choose(GetParam());
    ASSERT_STREQ(instruction_set(), hwy::TargetName(GetParam()));
  }
  void TearDown() override { choose(0); }

 private:
  // 0 stands for the real machine.
  static void choose(std::int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
};

#define RONDO_FOR_EACH_INSTRUCTION_SET(test)                                                 \
  INSTANTIATE_TEST_SUITE_P(On, test, testing::ValuesIn(hwy::SupportedAndGeneratedTargets()), \
                           test::name)

}  // namespace rondo::core
