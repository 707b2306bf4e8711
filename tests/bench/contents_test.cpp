#include "contents.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

namespace rondo::bench {
namespace {

using enum collectives::Collective;
using Memory = std::vector<std::byte>;

constexpr int kRanks = 3;
constexpr std::size_t kCount = 3 * 5000;  // more than the numbers' period

Workload workload(Collective collective, Rank rank, DataType type = DataType::float32,
                  ReduceOp op = ReduceOp::sum) {
  return {.collective = collective,
          .type = type,
          .op = op,
          .count = kCount,
          .in_place = false,
          .ranks = kRanks,
          .rank = rank};
}

struct Buffers {
  Memory input;
  Memory output;
};

Buffers written(const Workload& work, std::uint64_t turn) {
  Buffers buffers{Memory(work.bytes()), Memory(work.bytes())};
  Contents(work).write(turn, buffers.input.data(), buffers.output.data());
  return buffers;
}

template <class T>
T element(const Memory& memory, std::size_t i) {
  T value;
  std::memcpy(&value, memory.data() + i * sizeof value, sizeof value);
  return value;
}

/// The reduction, element by element, of what the ranks contribute.
template <class T, class Combine>
Memory reduction(Collective collective, DataType type, ReduceOp op, std::uint64_t turn,
                 Combine combine) {
  Memory result(kCount * sizeof(T));
  std::vector<Memory> inputs;
  for (Rank rank = 0; rank < kRanks; ++rank)
    inputs.push_back(written(workload(collective, rank, type, op), turn).input);
  for (std::size_t i = 0; i < kCount; ++i) {
    T value = element<T>(inputs[0], i);
    for (Rank rank = 1; rank < kRanks; ++rank)
      value = static_cast<T>(combine(value, element<T>(inputs[static_cast<std::size_t>(rank)], i)));
    std::memcpy(result.data() + i * sizeof value, &value, sizeof value);
  }
  return result;
}

Memory sum(std::uint64_t turn) {
  return reduction<float>(allreduce, DataType::float32, ReduceOp::sum, turn, std::plus<>());
}

TEST(Contents, TakesRightReductions) {
  const auto check = [](DataType type, ReduceOp op, const Memory& result) {
    EXPECT_EQ(Contents(workload(allreduce, 1, type, op)).count_wrong(5, result.data()), 0U)
        << name_of(type) << ' ' << name_of(op);
  };
  const auto of_type = [&]<class T>(DataType type, T /*zero*/) {
    const auto of = [&](ReduceOp op, auto combine) {
      check(type, op, reduction<T>(allreduce, type, op, 5, combine));
    };
    of(ReduceOp::sum, [](T a, T b) { return a + b; });
    of(ReduceOp::prod, [](T a, T b) { return a * b; });
    of(ReduceOp::min, [](T a, T b) { return std::min(a, b); });
    of(ReduceOp::max, [](T a, T b) { return std::max(a, b); });
  };
  of_type(DataType::float32, 0.0F);
  of_type(DataType::float64, 0.0);
  of_type(DataType::uint8, std::uint8_t{});
  of_type(DataType::int64, std::int64_t{});
}

TEST(Contents, RoundsSixteenBitsAndAveragesAsRondoDoes) {
  for (const ReduceOp op : {ReduceOp::sum, ReduceOp::avg}) {
    Memory result(kCount * sizeof(bfloat16));
    std::vector<Memory> inputs;
    for (Rank rank = 0; rank < kRanks; ++rank)
      inputs.push_back(written(workload(allreduce, rank, DataType::bfloat16, op), 1).input);
    for (std::size_t i = 0; i < kCount; ++i) {
      float value = 0;
      for (const Memory& input : inputs) value += static_cast<float>(element<bfloat16>(input, i));
      const bfloat16 rounded(op == ReduceOp::avg ? value / kRanks : value);
      std::memcpy(result.data() + i * sizeof rounded, &rounded, sizeof rounded);
    }
    const Contents contents(workload(allreduce, 0, DataType::bfloat16, op));
    EXPECT_EQ(contents.count_wrong(1, result.data()), 0U) << name_of(op);
  }
}

TEST(Contents, CountsEachWrongElement) {
  const Contents contents(workload(allreduce, 0));
  Memory result = sum(0);
  for (const std::size_t i : {std::size_t{0}, std::size_t{4093}, kCount - 1})
    result[i * sizeof(float)] ^= std::byte{1};
  EXPECT_EQ(contents.count_wrong(0, result.data()), 3U);
}

TEST(Contents, NoticesPiecesAtTheWrongPlace) {
  const Contents contents(workload(allreduce, 0));
  for (const std::size_t distance : {1, 4, 16, 1024, 4096}) {
    Memory result = sum(0);
    std::rotate(result.begin(), result.begin() + static_cast<std::ptrdiff_t>(4 * distance),
                result.end());
    EXPECT_GT(contents.count_wrong(0, result.data()), kCount / 2) << distance;
  }
}

TEST(Contents, NoticesResultsOfAnEarlierTurn) {
  const Contents contents(workload(allreduce, 0));
  const Memory result = sum(7);
  EXPECT_EQ(contents.count_wrong(7, result.data()), 0U);
  EXPECT_GT(contents.count_wrong(8, result.data()), kCount / 2);
  EXPECT_GT(contents.count_wrong(100, result.data()), kCount / 2);
}

TEST(Contents, FindsOneRanksInputAloneWrong) {
  const Buffers buffers = written(workload(allreduce, 0), 0);
  EXPECT_GT(Contents(workload(allreduce, 0)).count_wrong(0, buffers.input.data()), kCount / 2);
}

TEST(Contents, LeavesNothingRightInTheOutput) {
  for (const Collective collective : {allreduce, reduce_scatter, allgather, reduce, broadcast})
    for (int type = 0; type < kDataTypes; ++type) {
      const Rank rank = collective == reduce ? 0 : 1;
      const Workload work = workload(collective, rank, static_cast<DataType>(type));
      const Buffers buffers = written(work, 3);
      EXPECT_EQ(Contents(work).count_wrong(3, buffers.output.data()), work.output_count())
          << name_of(collective) << ' ' << name_of(work.type);
    }
}

TEST(Contents, KnowsWhereBlocksComeFrom) {
  Memory gathered;
  for (Rank rank = 0; rank < kRanks; ++rank) {
    const Workload work = workload(allgather, rank);
    const Memory input = written(work, 2).input;
    gathered.insert(gathered.end(), input.begin(),
                    input.begin() + static_cast<std::ptrdiff_t>(4 * work.block()));
  }
  EXPECT_EQ(Contents(workload(allgather, 1)).count_wrong(2, gathered.data()), 0U);
  const auto one_block = static_cast<std::ptrdiff_t>(4 * workload(allgather, 0).block());
  std::rotate(gathered.begin(), gathered.begin() + one_block, gathered.end());
  EXPECT_GT(Contents(workload(allgather, 1)).count_wrong(2, gathered.data()), kCount / 2);

  const Memory whole =
      reduction<float>(reduce_scatter, DataType::float32, ReduceOp::sum, 2, std::plus<>());
  for (Rank rank = 0; rank < kRanks; ++rank)
    EXPECT_EQ(Contents(workload(reduce_scatter, rank))
                  .count_wrong(2, whole.data() + static_cast<std::ptrdiff_t>(rank) * one_block),
              0U);
}

TEST(Contents, BroadcastsWhatTheRootHas) {
  const Memory data = written(workload(broadcast, Workload::kRoot), 4).output;
  EXPECT_EQ(Contents(workload(broadcast, 2)).count_wrong(4, data.data()), 0U);
}

}  // namespace
}  // namespace rondo::bench
