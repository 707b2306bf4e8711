#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <rondo/error.hpp>

namespace rondo::testing {

/// Expects `action` to throw an Error of this code whose message has all of `parts` in it.
template <class Action>
void expect_error(ErrorCode code, const std::vector<std::string>& parts, Action action) {
  try {
    action();
    ADD_FAILURE() << "nothing was thrown; expected " << name_of(code);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    for (const std::string& part : parts)
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
          << "no '" << part << "' in: " << error.what();
  }
}

}  // namespace rondo::testing
