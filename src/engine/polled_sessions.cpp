#include "engine/polled_sessions.hpp"

#include <algorithm>

#include "engine/session.hpp"

namespace rondo::engine {

PolledSessions& PolledSessions::instance() {
  static auto& sessions = *new PolledSessions;
  return sessions;
}

void PolledSessions::add(Session& session) {
  const std::lock_guard lock(mutex_);
  sessions_.push_back(&session);
  ++size_;
}

void PolledSessions::remove(Session& session) {
  const std::lock_guard lock(mutex_);
  if (std::erase(sessions_, &session) > 0) --size_;
}

Activity PolledSessions::step_all_but(const Session& waiting) noexcept {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return Activity::waiting;
  Activity most = Activity::idle;
  for (Session* session : sessions_)
    if (session != &waiting && session->transport().process() == waiting.transport().process())
      most = std::max(most, session->advance_if_free(false));
  return most;
}

}  // namespace rondo::engine
