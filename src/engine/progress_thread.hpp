#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <set>
#include <thread>

namespace rondo::engine {

class Session;

/// What was found in looking at a session: nothing pending, nothing new, or something that moved.
enum class Activity : std::uint8_t { idle, waiting, moving };

/// One thread per process that steps what is pending on its communicators while their callers
/// compute, and now and then looks at the idle ones, so that a rank which is busy with its own work
/// still answers "alive" to its peers' questions.
///
/// While something moves it goes on; while all waits it naps, longer and longer, so that the cores
/// are left to those who compute; and it sleeps until it is woken when nothing is pending. It does
/// not exist before there is something to watch.
class ProgressThread {
 public:
  /// Never destroyed, since sessions may be, when the process ends.
  static ProgressThread& instance();

  void watch(Session& session);
  /// Returns once the session is not being looked at and never will be again.
  void forget(Session& session);
  /// Says that something is pending.
  void wake() noexcept;

 private:
  class Visit;
  class Naps;

  /// Whether this thread takes a core from those who compute; if so, whether all of them are on one
  /// node.
  enum class Cores : std::uint8_t { spare, none, none_within_node };

  void count(const Session& session, int one);
  Cores cores() const;
  void run();
  Activity look_at_all(bool idle_ones);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<Session*> sessions_;
  bool started_ = false;
  int crowded_ = 0;                // sessions whose ranks leave no core to this thread
  int far_reaching_ = 0;           // sessions of several nodes
  std::atomic<int> visitors_ = 0;  // who want the mutex
  std::atomic<bool> woken_ = false;
  std::atomic<bool> asleep_ = false;
};

}  // namespace rondo::engine
