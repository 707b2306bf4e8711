#pragma once

#include <cmath>
#include <string_view>

#include <fmt/core.h>

#include <rondo/error.hpp>

namespace rondo::train {

/// Throws Error(usage) unless 0 ≤ value < 1.
inline void check_fraction(std::string_view optimizer, std::string_view option, double value) {
  if (!(value >= 0.0 && value < 1.0))
    throw Error(ErrorCode::usage, fmt::format("{}: {} is {}; it must be at least 0 and below 1",
                                              optimizer, option, value));
}

/// Throws Error(usage) unless value is finite and ≥ 0.
inline void check_not_negative(std::string_view optimizer, std::string_view option, double value) {
  if (!(value >= 0.0 && std::isfinite(value)))
    throw Error(ErrorCode::usage, fmt::format("{}: {} is {}; it must be finite and at least 0",
                                              optimizer, option, value));
}

}  // namespace rondo::train
