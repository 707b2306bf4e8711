#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <rondo/types.hpp>

#include "transport/topology.hpp"

namespace rondo::collectives {

/// The memory that a plan speaks of. When a call is in place, input block b and output block b are
/// the same memory, so a plan must be right both ways; the executor always orders accesses as if
/// they were.
enum class Space : std::uint8_t { input, output, scratch };

/// Consecutive blocks [first, first + count) of one space.
struct Place {
  Space space = Space::output;
  int first = 0;
  int count = 1;

  friend bool operator==(const Place&, const Place&) = default;
};

/// What the elements are: partial results in the accumulator type, or finished values in the
/// element type. An input counts as partial when it is reduced, and as finished when it is only
/// moved.
enum class Value : std::uint8_t { partial, finished };

enum class StepKind : std::uint8_t {
  send,            ///< source → peer
  receive,         ///< peer → target
  receive_reduce,  ///< target = source ⊕ what comes from peer (partial)
  copy,            ///< target = source
  reduce,          ///< target = target ⊕ source (partial)
  finish,          ///< target (finished) = source (partial), scaled and rounded once
};

/// One step of one rank. Steps that move bytes between the same two ranks in the same direction on
/// the same channel match in order; channels are independent of each other.
struct Step {
  StepKind kind;
  Value value = Value::partial;
  std::uint8_t channel = 0;
  Rank peer = -1;
  Place source = {};
  Place target = {};

  bool reads_source() const { return kind != StepKind::receive; }
  bool writes_target() const { return kind != StepKind::send; }
  bool reads_target() const { return kind == StepKind::reduce; }
  bool is_receive() const { return kind == StepKind::receive || kind == StepKind::receive_reduce; }
  /// The place whose size is the step's: all places of a step have the same.
  const Place& place() const { return reads_source() ? source : target; }

  friend bool operator==(const Step&, const Step&) = default;
};
inline constexpr int kChannels = 8;

/// "send partial input[2…3] to rank 1", for messages.
std::string describe(const Step& step);

/// Whether the messages of an exchange are reduced into what the receiver has, or replace it.
enum class Action : std::uint8_t { reduce, copy };

/// What one rank does in an algorithm: data, to be executed, verified, simulated, printed or drawn.
///
/// A plan knows blocks, not bytes: a Layout gives their sizes. It is written with the calls below,
/// in program order. They keep track of where each block's current value is: in the input until the
/// output was first written. The first `copy`-send of a block that this rank reduced finishes it;
/// `complete()` finishes the rest.
class Plan {
 public:
  /// `blocks`: into how many blocks the message is cut (of input and output alike).
  Plan(Rank rank, int size, int blocks);

  // ── Writing a plan ───────────────────────────────────────────────────────────────────────────
  struct Outgoing {
    Rank to;
    int first;
    int count = 1;
  };
  struct Incoming {
    Rank from;
    int first;
    int count = 1;
  };
  /// Sends the current value of blocks; as partial (Action::reduce) or finished (Action::copy).
  void send(Outgoing out, Action action, int channel = 0);
  /// Receives into the output: reduced with the current value, or replacing it.
  void receive(Incoming in, Action action, int channel = 0);
  /// Both, of which neither waits for the other.
  void exchange(Outgoing out, Incoming in, Action action, int channel = 0);
  /// Input → output without reducing (a rank's own block of an all-gather, say).
  void copy_input(int first, int count = 1);
  /// Adds a scratch block with the size of layout block `like`; returns its number.
  int add_scratch(int like);
  /// Any step, as it is; for algorithms that the calls above don't express. What it leaves in the
  /// output counts as the blocks' current value.
  void add(const Step& step);
  /// Finishes every output block in [first, first + count) that holds a partial value, or only an
  /// input.
  void complete(int first, int count);

  // ── Reading it ───────────────────────────────────────────────────────────────────────────────
  Rank rank() const { return rank_; }
  int size() const { return size_; }
  int blocks() const { return blocks_; }
  const std::vector<Step>& steps() const { return steps_; }
  /// For each scratch block, the layout block whose size it has.
  const std::vector<int>& scratch() const { return scratch_; }
  /// The layout blocks whose sizes the blocks of a place have.
  std::vector<int> layout_blocks(const Place& place) const;

 private:
  enum class State : std::uint8_t { input, partial, finished };

  Place current(int first, int count) const;
  void finish_if_partial(int first, int count);
  void finish(int first, int count);

  Rank rank_;
  int size_;
  int blocks_;
  std::vector<Step> steps_;
  std::vector<int> scratch_;
  std::vector<State> state_;
};

}  // namespace rondo::collectives
