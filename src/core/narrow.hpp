#pragma once

#include <utility>

#include <fmt/core.h>

#include <rondo/error.hpp>

namespace rondo::core {

/// `value` as a To; throws Error(usage) when it does not fit. The only place where an integer is
/// narrowed.
template <class To, class From>
To narrow(From value) {
  if (!std::in_range<To>(value))
    throw Error(ErrorCode::usage,
                fmt::format("{} does not fit the integer type that it must be passed in", value));
  return static_cast<To>(value);
}

}  // namespace rondo::core
