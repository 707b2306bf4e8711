#pragma once

#include <stdexcept>
#include <string>

#include <fmt/core.h>
#include <rondo/error.hpp>

namespace rondo::testing {

// For bodies of ranks, which may be threads or processes: a fault is thrown, so that the rank's
// runner can end the others and report it once.

template <class... Args>
void expect(bool holds, fmt::format_string<Args...> otherwise, Args&&... args) {
  if (!holds) throw std::runtime_error(fmt::format(otherwise, std::forward<Args>(args)...));
}

/// Runs `body`, which must throw Error(code); returns its message.
template <class Body>
std::string expect_error(ErrorCode code, const std::string& what, Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    expect(error.code() == code, "{}: expected a {} error, got: {}", what, name_of(code),
           error.what());
    return error.what();
  }
  throw std::runtime_error(fmt::format("{}: expected a {} error, got none", what, name_of(code)));
}

}  // namespace rondo::testing
