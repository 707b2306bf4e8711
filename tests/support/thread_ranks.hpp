#pragma once

#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "transport/thread_transport.hpp"

namespace rondo::testing {

using RankBody = std::function<void(transport::Transport&)>;

/// Runs `body` on a thread for each rank of `world` and gives back what each threw (null: nothing).
/// A rank that throws leaves the others alone: they must notice by themselves. `on_error` is called
/// on the thread that caught something.
inline std::vector<std::exception_ptr> errors_of_ranks(
    transport::ThreadWorld& world, const RankBody& body,
    const std::function<void(std::exception_ptr)>& on_error = {}) {
  std::vector<std::exception_ptr> errors(world.size());
  {
    std::vector<std::jthread> threads;
    for (Rank rank = 0; rank < world.size(); ++rank)
      threads.emplace_back([&world, &body, &on_error, &error = errors[rank], rank] {
        const auto transport = world.transport(rank);
        try {
          body(*transport);
        } catch (...) {
          error = std::current_exception();
          if (on_error) on_error(error);
        }
      });
  }
  return errors;
}

/// Runs `body` on a thread for each rank. The first exception aborts the world, so that the other
/// ranks don't wait for ever, and is thrown again here.
inline void run_ranks(transport::ThreadWorld& world, const RankBody& body) {
  std::mutex mutex;
  std::exception_ptr first;
  errors_of_ranks(world, body, [&](std::exception_ptr error) {
    const std::lock_guard lock(mutex);
    if (!first) first = error;
    world.abort(1);
  });
  if (first) std::rethrow_exception(first);
}

inline void run_ranks(int size, const RankBody& body,
                      const transport::ThreadOptions& options = {}) {
  transport::ThreadWorld world(size, options);
  run_ranks(world, body);
}

/// Polls until the send or receive is complete.
inline void wait(transport::Transport& transport, transport::Ticket ticket) {
  while (!transport.test(ticket)) std::this_thread::yield();
}

}  // namespace rondo::testing
