#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>

#include <rondo/stream.hpp>

namespace rondo {

/// What 16-bit types look like between ranks.
enum class Wire {
  wide,    ///< partial sums travel in float32, finished values in the 16-bit type: one rounding in
           ///< all
  narrow,  ///< everything travels in the 16-bit type: half the bytes, one rounding for each
           ///< reduction step
};

/// Settings of a communicator, or of one call. An empty or zero member means: as the communicator
/// has it, and there, as the environment (RONDO_*) has it.
struct Options {
  /// Name of an algorithm in docs/algorithms.md, such as "ring"; empty lets the selector choose.
  /// The caller keeps the characters alive (a literal is best).
  std::string_view algorithm{};
  /// How long an operation may take before its failure is declared.
  std::optional<std::chrono::milliseconds> timeout{};
  /// Messages are cut into pieces of this many bytes; 0 lets the selector choose.
  std::size_t segment_bytes = 0;
  /// One canonical value for each element, whatever the algorithm, sizes or path (docs/design.md,
  /// "Bits").
  std::optional<bool> deterministic{};
  /// Only for float16 and bfloat16.
  std::optional<Wire> wire{};
  /// Every input is multiplied by this, in the accumulator type, before it is reduced. Floating
  /// types only.
  double scale = 1.0;
  /// Of single calls on a device's memory, on all ranks or none: the call is ordered with this
  /// stream's work. It begins when what was enqueued before is over, and what is enqueued
  /// afterwards waits until it is over; the call itself returns at once, a blocking one too.
  /// Nothing waits on the host, so it needs the progress thread. After a failure the stream goes
  /// on, with output that means nothing; the Request, or else the next call on the communicator,
  /// throws why, and a call without a Request logs it. Refused with Error(usage): a stream that is
  /// being captured into a graph, host memory, and the calls all_to_all_v, send, receive, barrier
  /// and allreduce of many tensors.
  std::optional<Stream> stream{};
};

}  // namespace rondo
