#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <rondo/error.hpp>

#include "transport/transport.hpp"

namespace rondo::engine {

/// What one communicator's ranks know of each other's well-being, told by notices outside any
/// operation: that one failed, that one left, and, when a deadline has passed, who has arrived
/// where.
class Health {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Health(transport::Transport& transport);

  /// Reads all notices that came; answers questions. Cheap, never blocks.
  void pump();

  /// This rank begins its operation `sequence`.
  void enter(std::uint64_t sequence) { sequence_ = sequence; }

  /// Why the communicator can't be used any more: this rank's own failure or one that a peer
  /// published.
  const std::optional<Error>& failure() const { return failure_; }
  /// Remembers the failure, and tells every peer unless it is they who told us.
  void poison(const Error& error);

  /// Asks every other rank how far it is, waits up to `patience` for the answers, and says in words
  /// who has arrived in operation `sequence`, who is alive elsewhere and who is silent.
  std::string census(std::uint64_t sequence, std::chrono::milliseconds patience);

  /// Words for the ranks that left through MPI_Finalize at least `grace` ago; empty if there are
  /// none.
  std::string departed(std::chrono::milliseconds grace) const;

 private:
  struct Peer {
    bool answered = false;
    std::uint64_t sequence = 0;
    std::optional<Clock::time_point> left;
  };

  void receive(const transport::Notice& notice);
  void tell_all(const transport::Notice& notice);
  bool all_answered() const;

  transport::Transport& transport_;
  std::vector<Peer> peers_;
  std::optional<Error> failure_;
  std::uint64_t sequence_ = 0;
};

/// "rank 3", "ranks 0-2, 5": for messages.
std::string list_ranks(const std::vector<Rank>& ranks);

}  // namespace rondo::engine
