#pragma once

#include <chrono>

namespace rondo::engine {

/// How long an operation may take, and whether a warning that it takes long was given.
struct Deadline {
  using Clock = std::chrono::steady_clock;

  Clock::time_point start{};
  std::chrono::milliseconds timeout{};
  bool warned = false;
};

}  // namespace rondo::engine
