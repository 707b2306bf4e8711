#pragma once

#include <exception>

#include <fmt/core.h>

#include "engine/session.hpp"

namespace rondo::engine {

/// Marks the session as used by the calling thread.
class Session::Hold {
 public:
  explicit Hold(Session& session, SessionLock::Patience patience = SessionLock::Patience::none)
      : lock_(session.lock_) {
    lock_.lock(patience);
  }
  ~Hold() { lock_.unlock(); }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

 private:
  SessionLock& lock_;
};

template <class Body>
decltype(auto) Session::guarded(Body&& body) {
  const Hold hold(*this);
  // What other ranks have begun before they failed, they finish with this one.
  if (health_.has_failed_in(sequence_ + 1))
    throw Error(health_.failure()->code(),
                fmt::format("this communicator can't be used any more, since it failed: {}",
                            health_.failure()->what()));
  try {
    return body();
  } catch (const Error& error) {
    fail(error);
  } catch (const std::exception& error) {  // no memory, or a size that none has
    fail(Error(ErrorCode::system,
               fmt::format("{} in a call on {} ranks", error.what(), transport_->size())));
  }
}

}  // namespace rondo::engine
