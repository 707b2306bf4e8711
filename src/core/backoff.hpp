#pragma once

#include <sched.h>

#include <chrono>
#include <thread>

namespace rondo::core {

/// How to wait for something that must be polled: spin briefly, then yield the processor, and after
/// a while sleep between looks, so that more ranks than cores, and long waits, cost little.
class Backoff {
 public:
  void reset() { idle_ = 0; }

  /// Call after a look that found nothing new.
  void pause() {
    ++idle_;
    if (idle_ < kSpins) return;
    if (idle_ < kSpins + kYields) {
      sched_yield();
      return;
    }
    std::this_thread::sleep_for(kSleep);
  }

  /// True now and then, when rarer things (notices, the deadline) are worth a look.
  bool look_around() const { return idle_ % 64 == 63 || idle_ >= kSpins + kYields; }

 private:
  static constexpr int kSpins = 100;
  static constexpr int kYields = 20'000;
  static constexpr std::chrono::microseconds kSleep{100};

  int idle_ = 0;
};

}  // namespace rondo::core
