#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

#include "collectives/layout.hpp"
#include "collectives/pieces.hpp"
#include "collectives/plan.hpp"

namespace rondo::collectives {

/// A piece of a rank's plan.
struct PieceOf {
  Rank rank = -1;
  int piece = -1;
};

/// Something that can happen: a message, whose two sides are both ready for it, or a piece that
/// only computes. The reducing of a received piece is an event of its own, after the message.
struct Event {
  enum class Kind { message, compute } kind;
  PieceOf sender;    // of a message
  PieceOf receiver;  // of a message, or who computes
};

/// Replays the plans of all ranks by the executor's rules, as if every send were synchronous,
/// without bytes and without time: it says what can happen next, and is told what has happened.
///
/// Pieces of a stream (sender, receiver, channel) are sent, received and completed in order, at
/// most `window` in flight on either side; a receive that reduces lands in a slot and needs
/// nothing else to start; anything else starts when what it waits for is done.
class Replay {
 public:
  Replay(std::vector<Plan> plans, const Layout& layout, const Cutting& cutting, int window);

  /// An event that became possible, each once; nothing when none is left that doesn't wait for one
  /// to be done.
  std::optional<Event> next();
  void done(const Event& event);

  /// The first piece that is not done, if any: once next() has nothing more and no event is
  /// pending, the ranks are deadlocked.
  std::optional<PieceOf> first_unfinished() const;

  const std::vector<Plan>& plans() const { return plans_; }
  const Piece& piece(PieceOf of) const;
  const Step& step(PieceOf of) const;

 private:
  struct Task {
    int waiting = 0;  // for how many pieces
    int stream = -1;
    bool arrived = false;  // its message is through
    bool offered = false;  // its reduction became possible
    bool done = false;
    std::vector<int> followers;  // of the same rank
  };
  struct RankTasks {
    std::vector<Piece> pieces;
    std::vector<Task> tasks;
  };
  /// One side of a stream: its pieces in order, how many were started and how many completed.
  struct Side {
    Rank rank = -1;
    std::vector<int> pieces;
    std::size_t started = 0;
    std::size_t completed = 0;
  };
  struct Stream {
    Side sender;
    Side receiver;
    std::size_t matched = 0;
  };

  void load(Rank rank, const Layout& layout, const Cutting& cutting);
  void sort_into_streams();
  void wake(PieceOf of);
  void start_pieces(int stream);
  bool may_start_next(const Side& side) const;
  void complete(PieceOf of);
  void complete_in_order(Side& side);
  void offer_reduction(PieceOf of);
  Task& task(PieceOf of);
  const Task& task(PieceOf of) const;

  std::vector<Plan> plans_;
  std::vector<RankTasks> ranks_;
  std::vector<Stream> streams_;
  std::size_t window_;
  std::deque<Event> possible_;
};

}  // namespace rondo::collectives
