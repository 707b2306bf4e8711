#include "workload.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace rondo::bench {

namespace {

// Values repeat after so many elements, and all results are exact in every type.
constexpr std::size_t kPeriod = 4;

bool has_blocks(Collective collective) {
  return collective == Collective::reduce_scatter || collective == Collective::allgather;
}

/// What `rank` has in element i of the whole message.
double value(const Workload& work, Rank rank, std::size_t i) {
  const std::size_t phase = (i + static_cast<std::size_t>(rank)) % kPeriod;
  if (work.op == ReduceOp::prod) return phase == 0 && rank < 4 ? 2.0 : 1.0;
  return static_cast<double>(phase);
}

double reduced(const Workload& work, std::size_t i) {
  double result = value(work, 0, i);
  for (Rank rank = 1; rank < work.ranks; ++rank) {
    const double next = value(work, rank, i);
    switch (work.op) {
      case ReduceOp::sum:
      case ReduceOp::avg:
        result += next;
        break;
      case ReduceOp::prod:
        result *= next;
        break;
      case ReduceOp::min:
        result = std::min(result, next);
        break;
      case ReduceOp::max:
        result = std::max(result, next);
        break;
    }
  }
  return work.op == ReduceOp::avg ? result / work.ranks : result;
}

/// Calls `body` with a value of the C++ type of `type`.
template <class Body>
auto with_type(DataType type, Body&& body) {
  switch (type) {
    case DataType::int8:
      return body(std::int8_t{});
    case DataType::uint8:
      return body(std::uint8_t{});
    case DataType::int32:
      return body(std::int32_t{});
    case DataType::uint32:
      return body(std::uint32_t{});
    case DataType::int64:
      return body(std::int64_t{});
    case DataType::uint64:
      return body(std::uint64_t{});
    case DataType::float16:
      return body(float16{});
    case DataType::bfloat16:
      return body(bfloat16{});
    case DataType::float64:
      return body(double{});
    case DataType::float32:
      break;
  }
  return body(float{});
}

template <class T>
T as(double number) {
  if constexpr (std::is_arithmetic_v<T>)
    return static_cast<T>(number);
  else
    return T(static_cast<float>(number));
}

}  // namespace

std::size_t count_for(Collective collective, DataType type, std::size_t bytes, int ranks) {
  const std::size_t count = std::max<std::size_t>(1, bytes / size_of(type));
  if (!has_blocks(collective)) return count;
  const auto blocks = static_cast<std::size_t>(ranks);
  return std::max<std::size_t>(1, count / blocks) * blocks;
}

std::size_t Workload::input_count() const {
  switch (collective) {
    case Collective::barrier:
    case Collective::broadcast:
      return 0;
    case Collective::allgather:
      return block();
    default:
      return count;
  }
}

std::size_t Workload::output_count() const {
  switch (collective) {
    case Collective::barrier:
      return 0;
    case Collective::reduce:
      return rank == kRoot ? count : 0;
    case Collective::reduce_scatter:
      return block();
    default:
      return count;
  }
}

std::size_t Workload::nested_at() const {
  return has_blocks(collective) ? static_cast<std::size_t>(rank) * block() : 0;
}

void Workload::fill(std::byte* input, std::byte* output) const {
  with_type(type, [&](auto element) {
    using T = decltype(element);
    auto* out = reinterpret_cast<T*>(output);
    const bool sends_output = collective == Collective::broadcast && rank == kRoot;
    std::array<T, kPeriod> values{};
    for (std::size_t i = 0; i < kPeriod; ++i) values[i] = as<T>(value(*this, rank, i));
    if (sends_output) {
      for (std::size_t i = 0; i < output_count(); ++i) out[i] = values[i % kPeriod];
      return;
    }
    if (output != nullptr) std::fill_n(out, output_count(), as<T>(7.0));
    const std::size_t first = collective == Collective::allgather ? nested_at() : 0;
    auto* in = reinterpret_cast<T*>(input);
    for (std::size_t i = 0; i < input_count(); ++i) in[i] = values[(first + i) % kPeriod];
  });
}

std::size_t Workload::count_wrong(const std::byte* output) const {
  return with_type(type, [&](auto element) {
    using T = decltype(element);
    // What is right repeats; only all-gather's owner changes from block to block.
    const auto expected_at = [&](std::size_t i) {
      if (collective == Collective::broadcast) return as<T>(value(*this, kRoot, i));
      if (collective == Collective::allgather)
        return as<T>(value(*this, static_cast<Rank>(i / block()), i));
      return as<T>(reduced(*this, i));
    };
    const bool repeats = collective != Collective::allgather;
    const std::size_t first = collective == Collective::reduce_scatter ? nested_at() : 0;
    std::array<T, kPeriod> expected{};
    for (std::size_t i = 0; i < kPeriod && repeats; ++i) expected[i] = expected_at(i);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < output_count(); ++i) {
      const T right = repeats ? expected[(first + i) % kPeriod] : expected_at(i);
      wrong += std::memcmp(output + i * sizeof(T), &right, sizeof(T)) != 0 ? 1 : 0;
    }
    return wrong;
  });
}

double Workload::bus_factor() const {
  const double others = static_cast<double>(ranks - 1) / ranks;
  switch (collective) {
    case Collective::allreduce:
      return 2 * others;
    case Collective::reduce_scatter:
    case Collective::allgather:
      return others;
    default:
      return 1.0;
  }
}

}  // namespace rondo::bench
