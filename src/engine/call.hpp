#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <rondo/buffer.hpp>
#include <rondo/types.hpp>

#include "collectives/collective.hpp"

namespace rondo::engine {

/// One collective call, type-erased. Buffers that this rank doesn't have in the collective are
/// empty.
struct Call {
  collectives::Collective collective;
  ConstBuffer input{};
  Buffer output{};
  ReduceOp op = ReduceOp::sum;
  Rank root = 0;
  /// Sizes of the blocks of input and of output where they aren't all alike (the …_v calls); else
  /// empty.
  std::span<const std::size_t> input_counts{};
  std::span<const std::size_t> output_counts{};
  /// Digest of anything else that the ranks must agree on.
  std::uint64_t details = 0;
  /// The caller's memory is a device's; these buffers hold a part of it.
  bool on_device = false;
  /// This is a step of that call, which `served_by` serves: its signature is that of the whole.
  const Call* step_of = nullptr;
  std::string_view served_by{};
  /// The devices' own collectives may move the data: the operation only agrees on the call.
  bool by_group = false;
  /// Devices that reach the memory of all ranks may serve it.
  bool by_peers = false;
};

/// The options of one call, all defaults filled in.
struct Terms {
  std::string_view per_call_algorithm;
  std::string_view default_algorithm;
  std::size_t segment_bytes = 0;
  bool deterministic = false;
  bool narrow = false;
  double scale = 1.0;
  std::chrono::milliseconds timeout{};

  friend bool operator==(const Terms&, const Terms&) = default;
};

/// The type of the call's elements (that of the buffer which this rank has).
DataType type_of(const Call& call, Rank rank);

/// Elements of the whole message, of all ranks' blocks together; alike on all ranks.
std::size_t element_count(const Call& call, int size);

/// Whether each rank knows the sizes of its own blocks alone.
inline bool is_uneven_all_to_all(const Call& call) {
  return call.collective == collectives::Collective::all_to_all && !call.input_counts.empty();
}

/// Whether the calls differ in nothing but where their memory is. Never, for simplicity, where the
/// sizes of blocks are given.
bool are_alike(const Call& a, const Call& b);

// Both throw Error(usage) saying which argument is wrong and what it must be.

/// Everything but where the memory is: what is right for a call is so for all that are alike.
void check_terms(const Call& call, const Terms& terms, Rank rank, int size);
/// Where the memory is, in a call whose terms are right; the host must reach it.
void check_memory(const Call& call, Rank rank);
/// The same for memory of any kind.
void check_addresses(const Call& call, Rank rank);

}  // namespace rondo::engine
