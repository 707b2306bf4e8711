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
  void enter(std::uint64_t sequence) { enter(sequence, sequence); }
  /// The same for a call of several operations.
  void enter(std::uint64_t first, std::uint64_t last) {
    first_unfinished_ = first;
    sequence_ = last;
  }
  /// It is through with it: whatever fails from now on concerns the next one.
  void leave() { first_unfinished_ = sequence_ + 1; }

  /// Why the communicator can't be used any more: this rank's own failure or one that a peer
  /// published.
  const std::optional<Error>& failure() const { return failure_; }
  /// Whether that concerns operation `sequence`: a rank that is through with it may have failed in
  /// the next one, which doesn't keep the others from finishing it.
  bool has_failed_in(std::uint64_t sequence) const {
    return failure_ && failure_sequence_ <= sequence;
  }
  /// The first operation that it concerns.
  std::uint64_t failure_sequence() const { return failure_sequence_; }
  /// The blocking operation under way, or the next one.
  std::uint64_t first_unfinished() const { return first_unfinished_; }
  /// Remembers the failure of operation `sequence`, and tells every peer unless it is they who told
  /// us.
  void poison(const Error& error, std::uint64_t sequence);

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
  std::uint64_t failure_sequence_ = 0;
  std::uint64_t sequence_ = 0;          // of the last operation begun
  std::uint64_t first_unfinished_ = 1;  // this one, or the next
};

/// "rank 3", "ranks 0-2, 5": for messages.
std::string list_ranks(const std::vector<Rank>& ranks);

}  // namespace rondo::engine
