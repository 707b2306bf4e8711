#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include <rondo/types.hpp>

namespace rondo::device {

class Event;

/// What tells one device from all others, on whatever machine.
using Identity = std::array<std::byte, 16>;

/// What the ranks of one group know it by; one of them makes it, and tells the others.
struct GroupId {
  std::array<std::byte, 128> bytes{};
};

/// One call of a group's collective, as one rank makes it; all of its memory is the device's. In
/// place where input is what the output would have there.
struct GroupCall {
  enum class Kind : std::uint8_t {
    allreduce,
    reduce,
    broadcast,
    reduce_scatter,
    allgather,
    all_to_all,
    gather,
    scatter,
  };

  Kind kind = Kind::allreduce;
  const void* input = nullptr;  // of a broadcast: the root's data, alike in output
  void* output = nullptr;       // null where this rank has none
  std::size_t count = 0;  // elements: of the message for the first three, else of a rank's block
  DataType type = DataType::float32;
  ReduceOp op = ReduceOp::sum;
  Rank root = 0;
};

/// Ranks whose devices have collectives of their own, such as NCCL's; each rank has its own
/// device. Calls are made one at a time, in one order on all ranks, and only once all ranks have
/// agreed on them. Not for two threads at once. Failures are Error(nccl).
class Group {
 public:
  /// Whether it keeps our contracts. NCCL's floating minima and maxima lose a NaN; sums of 16-bit
  /// types are rounded at each step, as on a `narrow` wire; and an average is exact where inputs
  /// are divided by a power of two.
  static constexpr bool keeps_contracts(ReduceOp op, DataType type, int ranks, bool narrow) {
    if (!is_floating(type)) return op != ReduceOp::avg;
    if (size_of(type) == 2 && !narrow) return false;
    if (op == ReduceOp::avg) return std::has_single_bit(static_cast<unsigned>(ranks));
    return op == ReduceOp::sum || op == ReduceOp::prod;
  }

  /// Returns once nothing reads or writes the callers' memory; logs what went wrong.
  virtual ~Group() = default;

  /// Whether all ranks have joined.
  virtual bool joined() = 0;
  /// Begins a call, once all have joined, behind the work before `after`. Doesn't wait.
  virtual void start(const GroupCall& call, Event& after) = 0;
  /// True when the call is complete.
  virtual bool step() = 0;
  /// Ends what is under way, here and so on the other ranks, which must do the same; the memory is
  /// then unspecified, and the group of no use.
  virtual void abort() noexcept = 0;
};

/// Makes groups. Any thread may use it.
class GroupMaker {
 public:
  virtual ~GroupMaker() = default;
  /// "NCCL 2.28.9"
  virtual std::string_view name() const = 0;
  virtual GroupId make_id() = 0;
  /// Begins to join as `rank` of `size`; collective, but doesn't wait.
  virtual std::unique_ptr<Group> join(const GroupId& id, Rank rank, int size, int device) = 0;
};

}  // namespace rondo::device
