#pragma once

#include <atomic>
#include <cstdint>

namespace rondo::engine {

/// Who may use a session: one caller at a time, or the progress thread, which makes way for
/// callers. Each member may be called from any thread.
class SessionLock {
 public:
  /// Whether another caller is waited for, or refused.
  enum class Patience : std::uint8_t { none, endless };

  /// For a caller. Throws Error(usage) if another one, for which there is no patience, has it.
  void lock(Patience patience = Patience::none) {
    if (!try_lock(User::caller)) lock_late(patience);
  }
  /// For the progress thread, in whose place any thread may stand: false if a caller has it or
  /// wants it.
  bool try_lock_for_progress() {
    return callers_waiting_.load(std::memory_order_relaxed) == 0 && try_lock(User::progress_thread);
  }
  void unlock() { user_.store(User::nobody, std::memory_order_release); }

 private:
  enum class User : int { nobody, caller, progress_thread };

  bool try_lock(User user) {
    User found = User::nobody;
    return user_.compare_exchange_strong(found, user, std::memory_order_acquire);
  }
  void lock_late(Patience patience);

  std::atomic<User> user_{User::nobody};
  std::atomic<int> callers_waiting_ = 0;
};

}  // namespace rondo::engine
