#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include <rondo/types.hpp>

namespace rondo::transport {

/// One call of a vendor's collective, as one rank makes it. In place where input is what the output
/// would have there.
struct VendorCall {
  enum class Kind : std::uint8_t { allreduce, reduce, broadcast, allgather };

  Kind kind = Kind::allreduce;
  const void* input = nullptr;
  void* output = nullptr;  // of a broadcast: the data
  std::size_t count = 0;   // elements of the input
  DataType type = DataType::float32;
  ReduceOp op = ReduceOp::sum;
  Rank root = 0;
};

/// Collectives that a transport has of its own, such as MPI's. One at a time; none of the calls
/// blocks. All ranks must have agreed on a call before: a vendor may end the job, or write behind
/// the memory, where ranks differ.
class Vendor {
 public:
  /// Most elements of a message.
  static constexpr std::size_t kMostElements = std::numeric_limits<int>::max();

  /// Whether it keeps our contracts. MPI has no averages and no 16-bit floats. Open MPI loses a NaN
  /// in floating minima and maxima, and its sums of 8-bit integers stop at their largest value
  /// where ours wrap around; MPICH compares unsigned integers as if they were signed.
  static constexpr bool keeps_contracts(ReduceOp op, DataType type) {
    const bool adds = op == ReduceOp::sum || op == ReduceOp::prod;
    const bool compares = op == ReduceOp::min || op == ReduceOp::max;
    switch (type) {
      case DataType::int32:
      case DataType::int64:
        return adds || compares;
      case DataType::uint32:
      case DataType::uint64:
      case DataType::float32:
      case DataType::float64:
        return adds;
      case DataType::int8:
        return compares;
      default:
        return false;
    }
  }

  virtual ~Vendor() = default;

  virtual void start(const VendorCall& call) = 0;
  /// True when the call is complete. One that never is can't be cancelled: its memory must stay
  /// until the process ends.
  virtual bool step() = 0;
};

}  // namespace rondo::transport
