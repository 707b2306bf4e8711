#pragma once

#include <cstdint>
#include <memory>

#include "transport/transport.hpp"

namespace rondo::transport {

struct ThreadOptions {
  /// A send completes only once its receive has been posted, as MPI may do with any send; until
  /// then the message is read from the sender's memory. Else a send is copied and completes at
  /// once.
  bool synchronous_sends = false;
  /// If not 0, each message, send and notice, and what is told through shared memory, is held back
  /// for a number of polls that is drawn from this seed: completions come late and out of order, as
  /// they may.
  std::uint64_t delay_seed = 0;
};

class ThreadGroup;
class ThreadJob;

/// Ranks that are threads of this process: for tests, where the sanitizers see every rank. As in an
/// MPI without a progress thread, messages advance only inside the ranks' calls.
///
/// Once a rank has called abort(), or this world has, every call of a transport that may throw
/// throws Error(peer_lost). All members may be called from any thread.
class ThreadWorld {
 public:
  explicit ThreadWorld(const Topology& topology, const ThreadOptions& options = {});
  /// All ranks on one node.
  explicit ThreadWorld(int size, const ThreadOptions& options = {});

  int size() const;

  /// The transport of a rank: once per rank, for one thread. It may outlive the world.
  std::unique_ptr<Transport> transport(Rank rank);

  /// Loses a rank after so many of its further calls, as if its process were killed: from then on
  /// its own calls throw Error(peer_lost), and nothing reaches it. What it sent before still
  /// arrives. Nobody is told.
  void lose_after(Rank rank, std::uint64_t calls);

  /// What Transport::abort does, from outside.
  void abort(int status);

 private:
  std::shared_ptr<ThreadJob> job_;      // shared with the transports, which may outlive the world
  std::shared_ptr<ThreadGroup> group_;  // likewise
};

}  // namespace rondo::transport
