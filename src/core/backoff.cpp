#include "core/backoff.hpp"

#include <sched.h>

#include <chrono>
#include <thread>

#include <hwy/cache_control.h>

namespace rondo::core {

namespace {
constexpr std::chrono::microseconds kSleep{100};
}

/// A few looks cost less than a switch to another process, which may be one that only looks, too;
/// and MPI may yield by itself at each look.
void Backoff::yield_now_and_then() const {
  constexpr int kLooks = 4;
  if (idle_ % kLooks == 0) sched_yield();
}

bool Backoff::pause_briefly(int yields) {
  slept_ = idle_ >= spins_ + yields;
  if (slept_) return true;
  ++idle_;
  if (idle_ < spins_)
    hwy::Pause();
  else
    yield_now_and_then();
  return false;
}

void Backoff::nap() { std::this_thread::sleep_for(kSleep); }

}  // namespace rondo::core
