#pragma once

#include <chrono>
#include <memory>

namespace rondo {

namespace engine {
class LaunchPool;
struct Launch;
}  // namespace engine

/// An operation that one of Communicator's `i…` calls has begun. Until it is over, its output must
/// not be read or written, nor its input written, nor either freed.
///
/// Whoever waits, here or in a blocking call, steps all operations of the communicator, without a
/// change of thread, and where there is no progress thread also those of the process's other
/// communicators, so that ranks may wait in them in different orders; one thread at a time may use
/// a communicator and its requests. Nothing below is collective. A request may outlive its
/// communicator, whose destructor waits for all of them.
class Request {
 public:
  /// Of no operation: it is over.
  Request() noexcept = default;
  /// The other one is left without an operation. Assigned to, it first waits as ~Request does.
  Request(Request&& other) noexcept;
  Request& operator=(Request&& other) noexcept;
  /// Waits until the operation is over; an error that nobody has asked for is logged (the
  /// communicator is poisoned by it as by any other). While an exception unwinds it waits 2 s at
  /// most; then the operation fails on all ranks that have begun it.
  ~Request();

  /// Returns when the operation is over; throws what made it fail, or, where RONDO_ON_FAILURE says
  /// so, ends the job. Afterwards the request has no operation.
  void wait();
  /// Never blocks: steps those operations once. Whether this one is over: wait() then
  /// returns or throws at once.
  bool test();
  /// The same as wait(), for so long at most: false if the operation is not over by then; it goes
  /// on. Its own deadline is that of its Options, or of RONDO_TIMEOUT, from the call that began it,
  /// once earlier ones don't keep it waiting.
  bool wait_for(std::chrono::milliseconds timeout);
  /// When the operation that was waited for last was over here: earlier than that, if another
  /// thread has moved it. Before the first wait() that returns or throws: the clock's beginning.
  std::chrono::steady_clock::time_point over_at() const noexcept { return over_at_; }

 private:
  friend class Communicator;
  Request(std::shared_ptr<engine::LaunchPool> pool, engine::Launch& launch) noexcept;
  bool wait_until(std::chrono::steady_clock::time_point until);
  void release() noexcept;

  std::shared_ptr<engine::LaunchPool> pool_;  // shared with the communicator and its requests
  engine::Launch* launch_ = nullptr;
  std::chrono::steady_clock::time_point over_at_{};
};

}  // namespace rondo
