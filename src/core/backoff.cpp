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

void Backoff::pause() {
  ++idle_;
  if (idle_ < spins_)
    hwy::Pause();
  else if (idle_ < spins_ + kYields)
    yield_now_and_then();
  else
    std::this_thread::sleep_for(kSleep);
}

}  // namespace rondo::core
