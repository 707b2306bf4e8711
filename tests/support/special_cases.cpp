#include "support/special_cases.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <exception>
#include <limits>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

#include "collectives/registry.hpp"
#include "support/expect.hpp"
#include "support/pattern.hpp"
#include "support/sanitized.hpp"

namespace rondo::testing {

namespace {

using collectives::Collective;

template <class T>
ConstBuffer input(const std::vector<T>& data) {
  return ConstBuffer(std::span(data));
}

template <class T>
Buffer output(std::vector<T>& data) {
  return Buffer(std::span(data));
}

std::vector<std::int64_t> numbers(std::size_t count, std::int64_t first = 0) {
  std::vector<std::int64_t> result(count);
  std::iota(result.begin(), result.end(), first);
  return result;
}

/// Each algorithm of a collective, and the selector's choice.
std::vector<Options> every_algorithm(Collective collective) {
  std::vector<Options> result(1);
  for (const collectives::Algorithm& algorithm : collectives::algorithms())
    if (algorithm.collective == collective) result.emplace_back().algorithm = algorithm.name;
  return result;
}

// ── Counts ───────────────────────────────────────────────────────────────────────────────────────

void every_count_up_to_three_times_the_ranks(Communicator& world) {
  const std::int64_t ranks = world.size();
  for (const Options& options : every_algorithm(Collective::allreduce))
    for (std::int64_t count = 0; count <= 3 * ranks; ++count) {
      std::vector<std::int64_t> data = numbers(count, world.rank());
      world.allreduce(std::span(data), ReduceOp::sum, options);
      for (std::int64_t i = 0; i < count; ++i)
        expect(data[i] == ranks * i + ranks * (ranks - 1) / 2, "{} of {} elements, \"{}\": {}", i,
               count, options.algorithm, data[i]);
    }
}

void count_0_needs_no_memory(Communicator& world) {
  const ConstBuffer in(nullptr, 0, DataType::float32);
  const Buffer out(nullptr, 0, DataType::float32);
  const std::vector<std::size_t> zeros(world.size(), 0);
  for (int round = 0; round < 2; ++round) {
    world.allreduce(in, out, ReduceOp::avg);
    world.allreduce(std::span<const Buffer>(), ReduceOp::sum);
    world.reduce(in, out, ReduceOp::max, 0);
    world.broadcast(out, world.size() - 1);
    world.reduce_scatter(in, out, ReduceOp::sum);
    world.reduce_scatter_v(in, out, zeros, ReduceOp::sum);
    world.allgather(in, out);
    world.allgather_v(in, out, zeros);
    world.all_to_all(in, out);
    world.all_to_all_v(in, zeros, out, zeros);
    world.gather(in, out, 0);
    world.scatter(in, out, 0);
  }
}

/// A large prime, in pieces far smaller than any window.
void large_messages_in_many_pieces(Communicator& world) {
  constexpr std::size_t count = kSanitized ? 100'003 : 1'000'003;
  const float ranks = static_cast<float>(world.size());
  for (Options options : every_algorithm(Collective::allreduce)) {
    options.segment_bytes = kSanitized ? 1'600 : 16'000;
    std::vector<float> data(count);
    for (std::size_t i = 0; i < count; ++i)
      data[i] = static_cast<float>(i % 1'024) + static_cast<float>(world.rank());
    world.allreduce(std::span(data), ReduceOp::sum, options);
    for (std::size_t i = 0; i < count; ++i) {
      const float wanted = ranks * static_cast<float>(i % 1'024) + ranks * (ranks - 1) / 2;
      expect(data[i] == wanted, "element {} by \"{}\" is {}, not {}", i, options.algorithm, data[i],
             wanted);
    }
  }
}

void blocks_of_nothing_and_one_block_of_everything(Communicator& world) {
  const Rank rank = world.rank();
  for (Rank owner = 0; owner < world.size(); ++owner) {
    std::vector<std::size_t> counts(world.size(), 0);
    counts[owner] = 1'000;
    const bool mine = rank == owner;
    std::vector<std::int64_t> own(mine ? 1'000 : 0);

    world.reduce_scatter_v(input(numbers(1'000, rank)), output(own), counts, ReduceOp::max);
    if (mine) expect(own == numbers(1'000, world.size() - 1), "reduce_scatter_v to one rank");

    std::vector<std::int64_t> all(1'000);
    world.allgather_v(input(own), output(all), counts);
    expect(all == numbers(1'000, world.size() - 1), "allgather_v from rank {} alone", owner);

    std::vector<std::size_t> from(world.size(), mine ? 10 : 0);
    std::vector<std::size_t> to(world.size(), 0);
    to[owner] = 10;
    const auto sent = numbers(mine ? 10 * world.size() : 0);
    std::vector<std::int64_t> received(10);
    world.all_to_all_v(input(sent), from, output(received), to);
    expect(received == numbers(10, 10 * rank), "all_to_all_v from rank {} alone", owner);
  }
}

// ── Roots, groups ────────────────────────────────────────────────────────────────────────────────

void every_rank_is_root_once(Communicator& world) {
  const Rank rank = world.rank();
  const auto ranks = static_cast<std::size_t>(world.size());
  for (Rank root = 0; root < world.size(); ++root) {
    const bool is_root = rank == root;
    std::vector<std::int64_t> shared = numbers(17, is_root ? 100 * root : -1);
    world.broadcast(std::span(shared), root);
    expect(shared == numbers(17, 100 * root), "broadcast from {}", root);

    std::vector<std::int64_t> largest(is_root ? 17 : 0);
    world.reduce(input(numbers(17, rank)), output(largest), ReduceOp::max, root);
    if (is_root) expect(largest == numbers(17, world.size() - 1), "reduce to {}", root);

    std::vector<std::int64_t> all(is_root ? 3 * ranks : 0);
    world.gather(input(numbers(3, 3 * rank)), output(all), root);
    if (is_root) expect(all == numbers(3 * ranks), "gather to {}", root);

    std::vector<std::int64_t> own(3);
    world.scatter(input(all), output(own), root);
    expect(own == numbers(3, 3 * rank), "scatter from {}", root);
  }
}

/// What a group's members must see, whoever they are.
void expect_group_works(Communicator& group, const std::vector<Rank>& members, Rank world_rank) {
  expect(group.size() == static_cast<int>(members.size()), "size {}", group.size());
  expect(members[group.rank()] == world_rank, "rank {} of the group is another's", group.rank());
  std::vector<std::int64_t> all(members.size());
  group.allgather(input(std::vector<std::int64_t>{world_rank}), output(all));
  expect(std::equal(all.begin(), all.end(), members.begin(), members.end()), "order of ranks");
  std::vector<std::int64_t> data = numbers(101, world_rank);
  group.broadcast(std::span(data), group.size() - 1);
  expect(data == numbers(101, members.back()), "broadcast from the group's last rank");
}

void halves_with_reversed_keys_work_side_by_side(Communicator& world) {
  std::vector<Rank> members;
  for (Rank rank = world.size() - 1; rank >= 0; --rank)
    if (rank % 2 == world.rank() % 2) members.push_back(rank);
  Communicator half = world.split(world.rank() % 2, -world.rank());
  for (int round = 0; round < 20; ++round) expect_group_works(half, members, world.rank());
}

void split_of_a_split(Communicator& world) {
  Communicator half = world.split(world.rank() % 2);
  Communicator quarter = half.split(half.rank() % 2, -half.rank());
  std::vector<Rank> members;
  for (Rank rank = world.size() - 1; rank >= 0; --rank)
    if (rank % 4 == world.rank() % 4) members.push_back(rank);
  expect_group_works(quarter, members, world.rank());
  std::int64_t one = 1;
  half.allreduce(std::span(&one, 1), ReduceOp::sum);
  expect(one == half.size(), "the half after its split");
}

void group_of_one(Communicator& world) {
  Communicator alone = world.split(world.rank());
  for (int round = 0; round < 3; ++round) expect_group_works(alone, {world.rank()}, world.rank());
  alone.barrier();
}

void negative_color_joins_none(Communicator& world) {
  const bool joins = world.rank() == 0;
  Communicator group = world.split(joins ? 0 : -1);
  expect(group.size() == (joins ? 1 : 0), "size {}", group.size());
  if (!joins) expect_error(ErrorCode::usage, "no group", [&] { group.barrier(); });
  world.barrier();
}

void communicators_may_be_moved(Communicator& world) {
  Communicator first = world.split(0);
  Communicator second = std::move(first);
  first = world.split(0);
  std::int64_t one = 1;
  second.allreduce(std::span(&one, 1), ReduceOp::sum);
  first.allreduce(std::span(&one, 1), ReduceOp::sum);
  expect(one == static_cast<std::int64_t>(world.size()) * world.size(), "{}", one);
}

// ── Numbers ──────────────────────────────────────────────────────────────────────────────────────

/// In bfloat16 256 + 1 is 256: a sum that is kept in it stalls.
void bfloat16_sums_do_not_stall(Communicator& world) {
  for (const Options& options : every_algorithm(Collective::allreduce)) {
    std::vector<bfloat16> data(9, bfloat16(world.rank() == 0 ? 256.0f : 1.0f));
    world.allreduce(std::span(data), ReduceOp::sum, options);
    const bfloat16 wanted(255.0f + static_cast<float>(world.size()));
    for (const bfloat16 value : data)
      expect(value.bits == wanted.bits, "\"{}\": {}", options.algorithm, float(value));
  }
}

template <class T, class Accumulator>
void expect_average_of_equals(Communicator& world, Accumulator value) {
  for (const Options& options : every_algorithm(Collective::allreduce)) {
    std::vector<T> data(5, T(value));
    world.allreduce(std::span(data), ReduceOp::avg, options);
    for (const T average : data)
      expect(static_cast<Accumulator>(average) == value, "\"{}\": {}", options.algorithm,
             static_cast<Accumulator>(average));
  }
}

void averages_of_large_numbers_do_not_overflow(Communicator& world) {
  expect_average_of_equals<float16>(world, 40'000.0f);
  expect_average_of_equals<float16>(world, -65'504.0f);
  expect_average_of_equals<bfloat16>(world, 0x1p127f);
  expect_average_of_equals<float>(world, 0x1p127f);
  expect_average_of_equals<double>(world, 0x1p1023);
}

void nan_on_any_rank_is_the_minimum_and_the_maximum(Communicator& world) {
  for (const Options& options : every_algorithm(Collective::allreduce))
    for (const ReduceOp op : {ReduceOp::min, ReduceOp::max})
      for (Rank owner = 0; owner < world.size(); ++owner) {
        std::vector<float> data(7, static_cast<float>(world.rank()));
        if (world.rank() == owner) data[3] = std::numeric_limits<float>::quiet_NaN();
        world.allreduce(std::span(data), op, options);
        const float wanted = op == ReduceOp::min ? 0 : static_cast<float>(world.size() - 1);
        for (int i = 0; i < 7; ++i)
          expect(i == 3 ? std::isnan(data[i]) : data[i] == wanted, "\"{}\": element {} is {}",
                 options.algorithm, i, data[i]);
      }
}

void negative_zero_is_less_than_zero(Communicator& world) {
  if (world.size() == 1) return;
  for (const Options& options : every_algorithm(Collective::allreduce))
    for (Rank owner = 0; owner < world.size(); ++owner) {
      double least = world.rank() == owner ? -0.0 : 0.0;
      double most = world.rank() == owner ? 0.0 : -0.0;
      world.allreduce(std::span(&least, 1), ReduceOp::min, options);
      world.allreduce(std::span(&most, 1), ReduceOp::max, options);
      expect(std::signbit(least) && !std::signbit(most), "\"{}\": {} {}", options.algorithm, least,
             most);
    }
}

void many_tensors_at_once(Communicator& world) {
  const float ranks = static_cast<float>(world.size());
  std::vector<std::vector<float>> floats;
  std::vector<std::vector<std::int32_t>> integers;
  std::vector<std::vector<bfloat16>> halves;
  for (std::size_t i = 0; i < 40; ++i) {
    floats.emplace_back(i * i % 97, static_cast<float>(i));
    integers.emplace_back(i % 3, static_cast<std::int32_t>(i));
    halves.emplace_back(i % 7, bfloat16(static_cast<float>(i % 4)));
  }
  std::vector<Buffer> tensors;
  for (std::size_t i = 0; i < 40; ++i) {
    tensors.emplace_back(output(floats[i]));
    tensors.emplace_back(output(integers[i]));
    tensors.emplace_back(nullptr, 0, DataType::float64);
    tensors.emplace_back(output(halves[i]));
  }
  world.allreduce(std::span<const Buffer>(tensors), ReduceOp::sum);
  for (std::size_t i = 0; i < 40; ++i) {
    for (const float value : floats[i])
      expect(value == ranks * static_cast<float>(i), "tensor {}: {}", i, value);
    for (const std::int32_t value : integers[i])
      expect(value == world.size() * static_cast<int>(i), "tensor {}: {}", i, value);
    for (const bfloat16 value : halves[i])
      expect(float(value) == ranks * static_cast<float>(i % 4), "tensor {}: {}", i, float(value));
  }
}

// ── What is refused ──────────────────────────────────────────────────────────────────────────────

/// Every rank makes the mistake, on a communicator of its own that is spoilt by it.
template <class Body>
void expect_refused(Communicator& world, const std::string& what, Body&& body) {
  Communicator spoilt = world.split(0);
  expect_error(ErrorCode::usage, what, [&] { body(spoilt); });
  expect_error(ErrorCode::usage, what + ", afterwards", [&] { spoilt.barrier(); });
  world.barrier();
}

void buffers_that_overlap_in_part_are_refused(Communicator& world) {
  const auto ranks = static_cast<std::size_t>(world.size());
  const auto self = static_cast<std::size_t>(world.rank());
  std::vector<float> memory(4 * ranks + 4);
  const std::span<float> all(memory);
  const auto block = [&](std::size_t first) { return all.subspan(first, 2); };
  const std::span<float> whole = all.first(2 * ranks);
  const std::size_t own = 2 * self;
  expect_refused(world, "allreduce", [&](Communicator& c) {
    c.allreduce(whole, all.subspan(1, 2 * ranks), ReduceOp::sum);
  });
  expect_refused(world, "reduce_scatter", [&](Communicator& c) {
    c.reduce_scatter(whole, block(own == 0 ? 1 : own - 1), ReduceOp::sum);
  });
  expect_refused(world, "allgather",
                 [&](Communicator& c) { c.allgather(block(own == 0 ? 1 : own - 1), whole); });
  expect_refused(world, "all_to_all", [&](Communicator& c) { c.all_to_all(whole, whole); });
}

void arguments_that_make_no_sense_are_refused(Communicator& world) {
  std::vector<std::int32_t> integers(4);
  std::vector<float> floats(4);
  const int size = world.size();
  expect_refused(world, "avg of integers",
                 [&](Communicator& c) { c.allreduce(std::span(integers), ReduceOp::avg); });
  expect_refused(world, "scaled integers", [&](Communicator& c) {
    c.allreduce(std::span(integers), ReduceOp::sum, {.scale = 0.5});
  });
  expect_refused(world, "root beyond the last rank",
                 [&](Communicator& c) { c.broadcast(std::span(floats), size); });
  expect_refused(world, "negative root",
                 [&](Communicator& c) { c.broadcast(std::span(floats), -1); });
  expect_refused(world, "null pointer", [&](Communicator& c) {
    c.allreduce(ConstBuffer(nullptr, 4, DataType::float32), output(floats), ReduceOp::sum);
  });
  expect_refused(world, "counts that differ", [&](Communicator& c) {
    c.allreduce(input(floats), Buffer(std::span(floats).first(3)), ReduceOp::sum);
  });
  expect_refused(world, "types that differ", [&](Communicator& c) {
    c.allreduce(input(floats), output(integers), ReduceOp::sum);
  });
  expect_refused(world, "too few block counts", [&](Communicator& c) {
    const std::vector<std::size_t> counts(size + 1, 0);
    c.allgather_v({}, {}, counts);
  });
}

void algorithms_that_do_not_exist_or_suit_are_refused(Communicator& world) {
  std::vector<float> data(4);
  expect_refused(world, "unknown algorithm", [&](Communicator& c) {
    c.allreduce(std::span(data), ReduceOp::sum, {.algorithm = "rign"});
  });
  for (const collectives::Algorithm& algorithm : collectives::algorithms()) {
    if (algorithm.collective != Collective::allreduce || algorithm.deterministic) continue;
    expect_refused(world, std::string(algorithm.name), [&](Communicator& c) {
      c.allreduce(std::span(data), ReduceOp::sum,
                  {.algorithm = algorithm.name, .deterministic = true});
    });
  }
}

void two_threads_on_one_communicator_are_refused(Communicator& world) {
  if (world.size() == 1) return;
  Communicator busy = world.split(0);
  if (world.rank() == 0) {
    // One thread waits for rank 1, which waits for the other to have been refused.
    std::atomic<bool> calling = false;
    std::thread first([&] {
      calling = true;
      busy.barrier();
    });
    while (!calling) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    expect_error(ErrorCode::usage, "a second thread", [&] { busy.barrier(); });
    world.barrier();
    first.join();
  } else {
    world.barrier();
    busy.barrier();
  }
  busy.barrier();  // nothing was spoilt
}

void communicators_are_independent_of_each_other(Communicator& world) {
  Communicator one = world.split(0);
  Communicator other = world.split(0, -world.rank());
  const auto work = [](Communicator& communicator, std::int64_t factor) {
    for (std::int64_t i = 0; i < 50; ++i) {
      std::vector<std::int64_t> data(1 + 37 * i, factor * i);
      communicator.allreduce(std::span(data), ReduceOp::sum);
      for (const std::int64_t value : data)
        expect(value == communicator.size() * factor * i, "{} in round {}", value, i);
    }
  };
  std::exception_ptr error;
  std::jthread thread([&] {
    try {
      work(other, 3);
    } catch (...) {
      error = std::current_exception();
    }
  });
  work(one, 2);
  thread.join();
  if (error) std::rethrow_exception(error);
}

// ── Between two ranks, and time ──────────────────────────────────────────────────────────────────

void messages_between_two_ranks(Communicator& world) {
  const int ranks = world.size();
  const Rank rank = world.rank();
  if (ranks == 1) return;
  // Down the line: the first rank sends, each passes it on, adding its part.
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{300'007}}) {
    std::vector<std::int64_t> data(count);
    if (rank > 0) world.receive(output(data), rank - 1);
    for (std::int64_t& value : data) value += rank;
    if (rank < ranks - 1) world.send(input(data), rank + 1);
    for (const std::int64_t value : data)
      expect(value == static_cast<std::int64_t>(rank) * (rank + 1) / 2, "received {}", value);
  }
  // Between collectives, and in order.
  world.barrier();
  if (rank == 0)
    for (std::int64_t i = 0; i < 10; ++i) world.send(std::span(&i, 1), ranks - 1);
  if (rank == ranks - 1)
    for (std::int64_t i = 0; i < 10; ++i) {
      std::int64_t got = -1;
      world.receive(std::span(&got, 1), 0);
      expect(got == i, "message {} came in place of {}", got, i);
    }
  world.barrier();
}

void sizes_of_messages_must_agree(Communicator& world) {
  if (world.size() == 1) return;
  Communicator spoilt = world.split(0);
  std::vector<float> data(8);
  if (world.rank() == 1)
    expect_error(ErrorCode::mismatch, "a message of another size",
                 [&] { spoilt.receive(Buffer(std::span(data).first(7)), 0); });
  else
    expect_error(ErrorCode::mismatch, "after a message of another size", [&] {
      if (world.rank() == 0) spoilt.send(input(data), 1);
      spoilt.barrier();
    });
  world.barrier();
}

void barrier_waits_for_the_last_rank(Communicator& world) {
  using Clock = std::chrono::steady_clock;  // one for all processes of a machine
  for (Rank late = 0; late < world.size(); ++late) {
    if (world.rank() == late) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::int64_t arrival = Clock::now().time_since_epoch().count();
    world.barrier();
    const std::int64_t departure = Clock::now().time_since_epoch().count();
    world.broadcast(std::span(&arrival, 1), late);
    expect(departure >= arrival, "left {} ticks before rank {} arrived", arrival - departure, late);
  }
}

#define RONDO_SPECIAL_CASE(function) \
  SpecialCase { #function, function }

constexpr std::array kCases{
    RONDO_SPECIAL_CASE(every_count_up_to_three_times_the_ranks),
    RONDO_SPECIAL_CASE(count_0_needs_no_memory),
    RONDO_SPECIAL_CASE(large_messages_in_many_pieces),
    RONDO_SPECIAL_CASE(blocks_of_nothing_and_one_block_of_everything),
    RONDO_SPECIAL_CASE(every_rank_is_root_once),
    RONDO_SPECIAL_CASE(halves_with_reversed_keys_work_side_by_side),
    RONDO_SPECIAL_CASE(split_of_a_split),
    RONDO_SPECIAL_CASE(group_of_one),
    RONDO_SPECIAL_CASE(negative_color_joins_none),
    RONDO_SPECIAL_CASE(communicators_may_be_moved),
    RONDO_SPECIAL_CASE(bfloat16_sums_do_not_stall),
    RONDO_SPECIAL_CASE(averages_of_large_numbers_do_not_overflow),
    RONDO_SPECIAL_CASE(nan_on_any_rank_is_the_minimum_and_the_maximum),
    RONDO_SPECIAL_CASE(negative_zero_is_less_than_zero),
    RONDO_SPECIAL_CASE(many_tensors_at_once),
    RONDO_SPECIAL_CASE(buffers_that_overlap_in_part_are_refused),
    RONDO_SPECIAL_CASE(arguments_that_make_no_sense_are_refused),
    RONDO_SPECIAL_CASE(algorithms_that_do_not_exist_or_suit_are_refused),
    RONDO_SPECIAL_CASE(two_threads_on_one_communicator_are_refused),
    RONDO_SPECIAL_CASE(communicators_are_independent_of_each_other),
    RONDO_SPECIAL_CASE(messages_between_two_ranks),
    RONDO_SPECIAL_CASE(sizes_of_messages_must_agree),
    RONDO_SPECIAL_CASE(barrier_waits_for_the_last_rank),
};

#undef RONDO_SPECIAL_CASE

}  // namespace

std::span<const SpecialCase> special_cases() { return kCases; }

}  // namespace rondo::testing
