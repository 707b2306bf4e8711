#include "engine/session_lock.hpp"

#include <sched.h>

#include <rondo/error.hpp>

namespace rondo::engine {

void SessionLock::lock_late(Patience patience) {
  struct Waiting {
    explicit Waiting(std::atomic<int>& number) : callers(number) { ++callers; }
    ~Waiting() { --callers; }
    std::atomic<int>& callers;
  };
  const Waiting waiting(callers_waiting_);
  while (!try_lock(User::caller)) {
    if (patience == Patience::none && user_.load(std::memory_order_relaxed) == User::caller)
      throw Error(ErrorCode::usage,
                  "two threads use one communicator at once; give each thread its own (split)");
    sched_yield();  // the progress thread is soon done, and then makes way
  }
}

}  // namespace rondo::engine
