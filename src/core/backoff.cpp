#include "core/backoff.hpp"

#include <sched.h>

#include <chrono>
#include <thread>

#include <hwy/cache_control.h>

namespace rondo::core {

namespace {
constexpr std::chrono::microseconds kSleep{100};
}

void Backoff::pause() {
  ++idle_;
  if (idle_ < spins_)
    hwy::Pause();
  else if (idle_ < spins_ + kYields)
    sched_yield();
  else
    std::this_thread::sleep_for(kSleep);
}

}  // namespace rondo::core
