#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <vector>

#include <rondo/communicator.hpp>

#include "engine/session.hpp"
#include "support/thread_ranks.hpp"

namespace rondo::testing {

using CommunicatorBody = std::function<void(Communicator&)>;

/// A communicator over a transport of this rank. Collective.
inline Communicator make_communicator(std::unique_ptr<transport::Transport> transport,
                                      const Options& options = {},
                                      const core::Settings& settings = {}) {
  return Communicator(std::make_unique<engine::Session>(std::move(transport), options, settings));
}

/// Runs `body` on a thread for each rank of `world`, with a communicator of all ranks; throws what
/// the first failing rank threw.
inline void run_communicators(transport::ThreadWorld& world, const CommunicatorBody& body,
                              const Options& options = {}, const core::Settings& settings = {}) {
  run_ranks(world, [&](transport::Transport& transport) {
    Communicator communicator =
        make_communicator(transport.split(0, transport.rank()), options, settings);
    body(communicator);
  });
}

inline void run_communicators(int size, const CommunicatorBody& body, const Options& options = {}) {
  transport::ThreadWorld world(size);
  run_communicators(world, body, options);
}

/// The same, but each rank is left alone with its error: what each rank threw (null: nothing).
inline std::vector<std::exception_ptr> errors_of_communicators(int size,
                                                               const CommunicatorBody& body,
                                                               const Options& options = {}) {
  transport::ThreadWorld world(size);
  return errors_of_ranks(world, [&](transport::Transport& transport) {
    Communicator communicator = make_communicator(transport.split(0, transport.rank()), options);
    body(communicator);
  });
}

/// The same with settings of the test's.
inline std::vector<std::exception_ptr> errors_with(int size, const core::Settings& settings,
                                                   const CommunicatorBody& body) {
  transport::ThreadWorld world(size);
  return errors_of_ranks(world, [&](transport::Transport& transport) {
    Communicator communicator =
        make_communicator(transport.split(0, transport.rank()), {}, settings);
    body(communicator);
  });
}

}  // namespace rondo::testing
