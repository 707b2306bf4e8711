#include "engine/progress_thread.hpp"

#include <sched.h>
#include <sys/prctl.h>

#include <algorithm>
#include <utility>

#include "engine/session.hpp"

namespace rondo::engine {

using namespace std::chrono_literals;

namespace {
using Clock = std::chrono::steady_clock;
constexpr auto kIdleInterval = 100ms;
}  // namespace

/// How long to wait after looks that found nothing new: each time twice as long.
class ProgressThread::Naps {
 public:
  void reset() {
    looks_ = 0;
    doublings_ = 0;
  }
  bool at_longest(Cores cores) const { return doublings_ >= most_doublings(cores); }
  void take(Cores cores) {
    if (cores == Cores::spare && looks_++ < kSpareLooks) {
      sched_yield();
      return;
    }
    std::this_thread::sleep_for(shortest(cores) * (1 << doublings_));
    doublings_ = std::min(doublings_ + 1, most_doublings(cores));
  }

 private:
  /// Each nap's end costs who computes on this core some 10 us. Within a node, what this thread
  /// does costs them as much as if they did it, so that it need not be soon.
  static std::chrono::microseconds shortest(Cores cores) {
    switch (cores) {
      case Cores::spare:
        return 200us;
      case Cores::none:
        return 500us;
      case Cores::none_within_node:
        return 1000us;
    }
    return {};
  }
  /// Between nodes the link must not run dry: what is in flight lasts for some milliseconds.
  static int most_doublings(Cores cores) {
    switch (cores) {
      case Cores::spare:
        return 2;
      case Cores::none:
        return 1;
      case Cores::none_within_node:
        return 4;
    }
    return 0;
  }

  static constexpr int kSpareLooks = 1000;

  int looks_ = 0;
  int doublings_ = 0;
};

/// Holds the mutex. The thread makes way for visitors.
class ProgressThread::Visit {
 public:
  explicit Visit(ProgressThread& thread) : thread_(thread) {
    ++thread_.visitors_;
    thread_.mutex_.lock();
  }
  ~Visit() {
    --thread_.visitors_;
    thread_.mutex_.unlock();
    thread_.changed_.notify_all();
  }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

 private:
  ProgressThread& thread_;
};

ProgressThread& ProgressThread::instance() {
  static auto& thread = *new ProgressThread;
  return thread;
}

void ProgressThread::watch(Session& session) {
  const Visit visit(*this);
  sessions_.insert(&session);
  count(session, 1);
  if (!std::exchange(started_, true)) std::thread([this] { run(); }).detach();
}

void ProgressThread::forget(Session& session) {
  const Visit visit(*this);
  if (sessions_.erase(&session) > 0) count(session, -1);
}

void ProgressThread::count(const Session& session, int one) {
  if (session.needs_all_cores()) crowded_ += one;
  if (session.transport().topology().nodes() > 1) far_reaching_ += one;
}

ProgressThread::Cores ProgressThread::cores() const {
  if (crowded_ == 0) return Cores::spare;
  return far_reaching_ > 0 ? Cores::none : Cores::none_within_node;
}

void ProgressThread::wake() noexcept {
  woken_.store(true);
  if (!asleep_.load()) return;
  const std::lock_guard lock(mutex_);  // it looks at woken_ before, or hears what follows
  changed_.notify_all();
}

void ProgressThread::run() {
  prctl(PR_SET_TIMERSLACK, 1000UL);  // nanoseconds; else naps are longer by 50 us
  std::unique_lock lock(mutex_);
  Naps naps;
  Clock::time_point next_look{};
  while (true) {
    changed_.wait(lock, [this] { return visitors_ == 0 && !sessions_.empty(); });
    const bool look_at_idle = Clock::now() >= next_look;
    if (look_at_idle) next_look = Clock::now() + kIdleInterval;
    const Activity activity = look_at_all(look_at_idle);
    if (activity == Activity::moving) {
      naps.reset();
    } else if (activity == Activity::waiting || !naps.at_longest(cores())) {
      const Cores available = cores();
      lock.unlock();
      naps.take(available);
      lock.lock();
    } else {
      asleep_.store(true);
      changed_.wait_until(lock, next_look, [this] { return woken_.load() || visitors_ > 0; });
      asleep_.store(false);
      if (woken_.exchange(false)) naps.reset();
    }
  }
}

/// The most lively of all sessions' activities.
Activity ProgressThread::look_at_all(bool idle_ones) {
  Activity most = Activity::idle;
  for (Session* session : sessions_) most = std::max(most, session->advance_if_free(idle_ones));
  return most;
}

}  // namespace rondo::engine
