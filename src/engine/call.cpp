#include "engine/call.hpp"

#include <cstdint>
#include <numeric>
#include <string>

#include <fmt/core.h>

#include <rondo/error.hpp>

#include "device/in_use.hpp"
#include "engine/memory_kinds.hpp"

namespace rondo::engine {

using collectives::Collective;

namespace {

template <class... Args>
[[noreturn]] void refuse(const Call& call, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(ErrorCode::usage, fmt::format("{}: {}", name_of(call.collective),
                                            fmt::format(format, std::forward<Args>(args)...)));
}

std::size_t sum(std::span<const std::size_t> counts) {
  return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
}

void check_pointer(const Call& call, const void* data, std::size_t count, const char* which) {
  if (data == nullptr && count > 0) refuse(call, "{} is null but has {} elements", which, count);
}

void check_arithmetic(const Call& call, const Terms& terms, DataType type) {
  if (!reduces(call.collective) || is_floating(type)) return;
  if (call.op == ReduceOp::avg)
    refuse(call, "avg of {} is not defined; sum, and divide as you need", name_of(type));
  if (terms.scale != 1.0)
    refuse(call, "a scale needs a floating type, not {}; scale the result yourself", name_of(type));
}

void check_count(const Call& call, std::size_t actual, std::size_t expected, const char* which) {
  if (actual != expected)
    refuse(call, "{} has {} elements but must have {}", which, actual, expected);
}

void check_block_counts(const Call& call, std::span<const std::size_t> counts, int size,
                        const char* which) {
  if (!counts.empty() && counts.size() != static_cast<std::size_t>(size))
    refuse(call, "{} has {} entries; it needs one for each of the {} ranks", which, counts.size(),
           size);
}

void check_counts(const Call& call, Rank rank, int size) {
  const auto ranks = static_cast<std::size_t>(size);
  const auto self = static_cast<std::size_t>(rank);
  const std::size_t in = call.input.count;
  const std::size_t out = call.output.count;
  check_block_counts(call, call.input_counts, size, "the list of input counts");
  check_block_counts(call, call.output_counts, size, "the list of output counts");
  switch (call.collective) {
    case Collective::allreduce:
      check_count(call, out, in, "output");
      break;
    case Collective::reduce:
      if (rank == call.root) check_count(call, out, in, "output");
      break;
    case Collective::reduce_scatter:
      check_count(call, in, call.input_counts.empty() ? out * ranks : sum(call.input_counts),
                  "input");
      if (!call.input_counts.empty()) check_count(call, out, call.input_counts[self], "output");
      break;
    case Collective::allgather:
      check_count(call, out, call.output_counts.empty() ? in * ranks : sum(call.output_counts),
                  "output");
      if (!call.output_counts.empty()) check_count(call, in, call.output_counts[self], "input");
      break;
    case Collective::all_to_all:
      if (!is_uneven_all_to_all(call)) {
        check_count(call, out, in, "output");
        if (in % ranks != 0)
          refuse(call, "{} elements can't be dealt to {} ranks evenly", in, size);
      } else {
        check_count(call, in, sum(call.input_counts), "input");
        check_count(call, out, sum(call.output_counts), "output");
      }
      break;
    case Collective::gather:
      if (rank == call.root) check_count(call, out, in * ranks, "output");
      break;
    case Collective::scatter:
      if (rank == call.root) check_count(call, in, out * ranks, "input");
      break;
    case Collective::broadcast:
    case Collective::barrier:
    case Collective::split:
    case Collective::send_receive:
      break;
  }
}

/// Where output must begin, in elements of input, for the call to be in place; negative where it
/// never is.
std::ptrdiff_t in_place_offset(const Call& call, Rank rank) {
  const auto self = static_cast<std::size_t>(rank);
  const auto before = [&](std::span<const std::size_t> counts, std::size_t uniform) {
    const std::size_t elements = counts.empty() ? self * uniform : sum(counts.first(self));
    return static_cast<std::ptrdiff_t>(elements);
  };
  switch (call.collective) {
    case Collective::reduce_scatter:
      return before(call.input_counts, call.output.count);
    case Collective::scatter:
      return before({}, call.output.count);
    case Collective::allgather:
      return -before(call.output_counts, call.input.count);
    case Collective::gather:
      return -before({}, call.input.count);
    default:
      return 0;
  }
}

void check_overlap(const Call& call, Rank rank) {
  if (call.input.bytes() == 0 || call.output.bytes() == 0) return;
  const auto in = reinterpret_cast<std::uintptr_t>(call.input.data);
  const auto out = reinterpret_cast<std::uintptr_t>(call.output.data);
  const bool disjoint = in + call.input.bytes() <= out || out + call.output.bytes() <= in;
  if (disjoint) return;
  if (call.collective == Collective::all_to_all)
    refuse(call, "input and output overlap; it works out of place only");
  const auto element = static_cast<std::ptrdiff_t>(size_of(call.input.type));
  const auto distance = static_cast<std::ptrdiff_t>(out - in);
  if (distance != in_place_offset(call, rank) * element)
    refuse(call,
           "input and output overlap by a part; make them the same memory (in place) or wholly "
           "apart");
}

}  // namespace

DataType type_of(const Call& call, Rank rank) {
  const bool only_output = call.collective == Collective::broadcast ||
                           (call.collective == Collective::scatter && rank != call.root);
  return only_output ? call.output.type : call.input.type;
}

std::size_t element_count(const Call& call, int size) {
  const auto ranks = static_cast<std::size_t>(size);
  switch (call.collective) {
    case Collective::allreduce:
    case Collective::reduce:
    case Collective::reduce_scatter:
    case Collective::all_to_all:
      return call.input.count;
    case Collective::broadcast:
    case Collective::allgather:
    case Collective::send_receive:
      return call.output.count;
    case Collective::gather:
      return call.input.count * ranks;
    case Collective::scatter:
      return call.output.count * ranks;
    case Collective::barrier:
    case Collective::split:
      return 0;
  }
  return 0;
}

bool are_alike(const Call& a, const Call& b) {
  return a.collective == b.collective && a.input.count == b.input.count &&
         a.output.count == b.output.count && a.input.type == b.input.type &&
         a.output.type == b.output.type && a.op == b.op && a.root == b.root &&
         a.details == b.details && a.on_device == b.on_device && a.step_of == nullptr &&
         b.step_of == nullptr && a.by_group == b.by_group && a.by_peers == b.by_peers &&
         a.input_counts.empty() && a.output_counts.empty() && b.input_counts.empty() &&
         b.output_counts.empty();
}

void check_terms(const Call& call, const Terms& terms, Rank rank, int size) {
  if (has_root(call.collective) && (call.root < 0 || call.root >= size))
    refuse(call, "root {} is not a rank of this communicator of {} ranks", call.root, size);
  check_arithmetic(call, terms, type_of(call, rank));
  check_counts(call, rank, size);
}

void check_memory(const Call& call, Rank rank) {
  check_addresses(call, rank);
  device::Runtime* const devices = device::in_use();
  if (devices == nullptr) return;
  refuse_device_memory(name_of(call.collective), "input", call.input, rank, *devices);
  refuse_device_memory(name_of(call.collective), "output", call.output, rank, *devices);
}

void check_addresses(const Call& call, Rank rank) {
  check_pointer(call, call.input.data, call.input.count, "input");
  check_pointer(call, call.output.data, call.output.count, "output");
  const bool both = call.input.data != nullptr && call.output.data != nullptr;
  if (both && call.input.type != call.output.type)
    refuse(call, "input is {} but output is {}; they must be alike", name_of(call.input.type),
           name_of(call.output.type));
  check_overlap(call, rank);
}

}  // namespace rondo::engine
