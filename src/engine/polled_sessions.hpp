#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

namespace rondo::engine {

class Session;
enum class Activity : std::uint8_t;

/// The communicators that no thread steps and that have had something pending. Ranks may wait in
/// them in different orders, so whoever waits in one communicator of the process steps the others
/// too. May be called from any thread.
class PolledSessions {
 public:
  /// Never destroyed, since sessions may be, when the process ends.
  static PolledSessions& instance();

  void add(Session& session);
  /// Returns once the session is not being stepped and never will be again.
  void remove(Session& session);
  int size() const { return size_.load(std::memory_order_relaxed); }

  /// One step of what is pending on the others of the process of `waiting`, unless another thread
  /// is just making it: the most lively one's activity.
  Activity step_all_but(const Session& waiting) noexcept;

 private:
  std::mutex mutex_;
  std::vector<Session*> sessions_;
  std::atomic<int> size_ = 0;
};

}  // namespace rondo::engine
