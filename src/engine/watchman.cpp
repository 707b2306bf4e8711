#include "engine/watchman.hpp"

#include <chrono>

#include "engine/session.hpp"

namespace rondo::engine {

namespace {
constexpr std::chrono::milliseconds kInterval{100};
}

Watchman& Watchman::instance() {
  static Watchman watchman;
  return watchman;
}

Watchman::~Watchman() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Watchman::watch(Session& session) {
  const std::lock_guard lock(mutex_);
  sessions_.insert(&session);
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  changed_.notify_all();
}

void Watchman::forget(Session& session) {
  const std::lock_guard lock(mutex_);
  sessions_.erase(&session);
}

void Watchman::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (sessions_.empty()) {
      changed_.wait(lock);
      continue;
    }
    changed_.wait_for(lock, kInterval, [this] { return stopping_; });
    if (stopping_) return;
    for (Session* session : sessions_) session->look_if_idle();
  }
}

}  // namespace rondo::engine
