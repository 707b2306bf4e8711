#pragma once

#include <chrono>
#include <optional>

namespace rondo::engine {

/// How long an operation may take, and whether a warning that it takes long was given.
struct Deadline {
  using Clock = std::chrono::steady_clock;

  std::chrono::milliseconds timeout{};
  // Taken at the first look at the clock: most operations are done before, and asking costs them
  // more than anything else.
  std::optional<Clock::time_point> start{};
  bool warned = false;
};

}  // namespace rondo::engine
