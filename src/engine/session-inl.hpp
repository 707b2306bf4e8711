#pragma once

#include <sched.h>

#include <exception>

#include <fmt/core.h>

#include "engine/session.hpp"

namespace rondo::engine {

/// Marks the session as used by the calling thread.
class Session::Hold {
 public:
  /// Whether another caller is waited for, or refused.
  enum class Patience : std::uint8_t { none, endless };

  explicit Hold(Session& session, Patience patience = Patience::none) : session_(session) {
    User found = User::nobody;
    while (!session_.user_.compare_exchange_weak(found, User::caller, std::memory_order_acquire)) {
      if (found == User::caller && patience == Patience::none)
        throw Error(ErrorCode::usage,
                    "two threads use one communicator at once; give each thread its own (split)");
      found = User::nobody;
      session_.wanted_.store(true, std::memory_order_relaxed);
      sched_yield();  // the progress thread is soon done, and then makes way
    }
    if (session_.wanted_.load(std::memory_order_relaxed))
      session_.wanted_.store(false, std::memory_order_relaxed);
  }
  ~Hold() { session_.user_.store(User::nobody, std::memory_order_release); }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

 private:
  Session& session_;
};

template <class Body>
decltype(auto) Session::guarded(Body&& body) {
  const Hold hold(*this);
  if (health_.failure())
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
