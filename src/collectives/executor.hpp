#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "collectives/arithmetic.hpp"
#include "collectives/layout.hpp"
#include "collectives/program.hpp"
#include "collectives/window.hpp"
#include "collectives/workspace.hpp"
#include "transport/transfer.hpp"
#include "transport/transport.hpp"

namespace rondo::collectives {

/// The memory and the sizes of one operation.
struct Operands {
  Window input;  // only read
  Window output;
  const Layout* input_layout = nullptr;
  const Layout* output_layout = nullptr;
  Arithmetic arithmetic;
  /// What the input holds: elements, or partial values already.
  Value input_value = Value::finished;
  /// Partial values of output blocks lie in the output itself; else in memory of the executor's.
  bool partials_in_output = false;
  std::size_t segment_bytes = 0;
  transport::Tag tag_base = 0;  // channel c has tag tag_base + c
};

/// Runs programs over a transport: one at a time, without ever blocking.
///
/// A step works on a range of elements, in pieces of at most `segment_bytes`, in order. Its
/// progress is therefore one number: how many of its elements are done. A piece may run when every
/// earlier step whose places overlap it has done the overlapping elements (Program::dependencies).
/// Pieces of a stream are sent and received in order, at most kWindow of them in flight.
class Executor {
 public:
  static constexpr std::size_t kWindow = 4;

  explicit Executor(transport::Transport& transport) : transport_(transport) {}
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// Begins an operation; `program` and the layouts must live until it is done.
  void start(const Program& program, const Operands& operands);
  /// Does what can be done now. True once every step is done.
  bool step();
  /// True if the last step() moved anything.
  bool progressed() const { return progressed_; }
  /// From now on the sizes of this operation's messages are known to be right.
  void trust_sizes() { sizes_ = transport::Sizes::known; }
  /// Gives the operation up: receives are cancelled, sends left to themselves.
  void cancel();

 private:
  /// Progress of one step, in elements.
  struct Progress {
    std::size_t elements = 0;
    std::size_t source_begin = 0;  // of the source's space
    std::size_t target_begin = 0;
    std::size_t issued = 0;
    std::size_t done = 0;
  };
  struct Flight {
    transport::Transfer transfer;
    int step;
    std::size_t offset;
    std::size_t elements;
  };
  /// Pieces in flight, oldest first, of one stream.
  struct StreamState {
    std::array<Flight, kWindow> flights;
    std::size_t first = 0;
    std::size_t count = 0;
    std::size_t next = 0;  // index into Stream::steps of the step to issue from
    // Landing slots of a stream that reduces, in the executor's memory for them.
    std::size_t slots_begin = 0;
    std::size_t slot_bytes = 0;
  };

  void measure_steps();
  void measure_scratch();
  void assign_slots();
  std::size_t measure_slots(const Stream& stream, StreamState& state) const;
  std::size_t begin_of(const Place& place) const;
  std::size_t segment_elements(Value value) const;

  void issue(const Stream& stream, StreamState& state);
  bool issue_piece(const Stream& stream, StreamState& state, int index);
  void complete(const Stream& stream, StreamState& state);
  bool absorb(const StreamState& state, const Flight& flight);
  void run_local_steps();
  void run_local_piece(int index, std::size_t offset, std::size_t elements);

  bool ready(int index, std::size_t offset, std::size_t elements) const;
  void finish_elements(int index, std::size_t elements);
  std::byte* at(const Place& place, Value value, std::size_t element) const;
  std::byte* slot_of(const StreamState& state, std::size_t position) const;

  transport::Transport& transport_;
  const Program* program_ = nullptr;
  Operands operands_;
  std::vector<Progress> progress_;
  std::vector<StreamState> streams_;
  std::vector<std::size_t> scratch_begin_;
  std::size_t unfinished_ = 0;
  std::size_t first_local_ = 0;  // every local step before it is done
  bool progressed_ = false;
  transport::Sizes sizes_ = transport::Sizes::checked;
  std::byte* slots_ = nullptr;
  std::byte* partials_ = nullptr;
  std::byte* scratch_ = nullptr;
  Workspace partials_memory_;
  Workspace scratch_memory_;
  Workspace slot_memory_;
};

}  // namespace rondo::collectives
