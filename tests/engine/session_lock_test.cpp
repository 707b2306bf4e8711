#include "engine/session_lock.hpp"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>
#include <rondo/error.hpp>

namespace rondo::engine {
namespace {

using Patience = SessionLock::Patience;

TEST(SessionLock, RefusesASecondCallerButNotAPatientOne) {
  SessionLock lock;
  lock.lock();
  EXPECT_THROW(lock.lock(), Error);
  EXPECT_FALSE(lock.try_lock_for_progress());
  std::thread patient([&] {
    lock.lock(Patience::endless);
    lock.unlock();
  });
  lock.unlock();
  patient.join();
  EXPECT_TRUE(lock.try_lock_for_progress());
}

/// Callers come while the progress thread has it: one is served, the other perhaps refused.
TEST(SessionLock, IsFreeForTheProgressThreadWhenNoCallerIsLeft) {
  constexpr int kRounds = 3000;
  SessionLock lock;
  std::atomic<int> round = 0;
  std::atomic<int> rounds_done = 0;
  int refused = 0;
  const auto call = [&] {
    try {
      lock.lock();
      lock.unlock();
    } catch (const Error&) {
      ++refused;
    }
  };
  std::thread other([&] {
    for (int i = 1; i <= kRounds; ++i) {
      while (round.load() < i) std::this_thread::yield();
      call();
      rounds_done = i;
    }
  });
  for (int i = 1; i <= kRounds; ++i) {
    ASSERT_TRUE(lock.try_lock_for_progress()) << i;
    round = i;
    lock.unlock();
    while (true) {
      try {
        lock.lock();
        break;
      } catch (const Error&) {
      }
    }
    while (rounds_done.load() < i) std::this_thread::yield();
    lock.unlock();
  }
  other.join();
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace rondo::engine
