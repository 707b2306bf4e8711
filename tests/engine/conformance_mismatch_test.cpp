#include <gtest/gtest.h>

#include <array>
#include <ostream>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "support/expect.hpp"
#include "support/thread_communicators.hpp"

// One rank makes another call than the others: whatever it is that differs, every rank is told so.
namespace rondo::testing {
namespace {

using Call = void (*)(Communicator&, std::size_t count);

/// What differs, what the others call and what the odd rank calls, and how each looks in words.
struct Disagreement {
  std::string_view name;
  std::string_view field;
  Call usual;
  std::string_view usual_words;
  Call odd;
  std::string_view odd_words;

  /// How GoogleTest shows it.
  friend std::ostream& operator<<(std::ostream& out, const Disagreement& what) {
    return out << what.name;
  }
};

void allreduce(Communicator& communicator, std::size_t count, ReduceOp op = ReduceOp::sum,
               const Options& options = {}) {
  std::vector<bfloat16> data(count);
  communicator.allreduce(std::span(data), op, options);
}

void broadcast(Communicator& communicator, std::size_t count, Rank root) {
  std::vector<float> data(count);
  communicator.broadcast(std::span(data), root);
}

void allgather_v(Communicator& communicator, std::size_t count, std::size_t first, Rank last) {
  std::vector<std::size_t> counts(communicator.size(), 0);
  counts[0] = first;
  counts[last] = count - first;
  const std::vector<float> own(counts[communicator.rank()]);
  std::vector<float> all(count);
  communicator.allgather_v(ConstBuffer(std::span(own)), Buffer(std::span(all)), counts);
}

void allreduce_two(Communicator& communicator, std::size_t first, std::size_t second) {
  std::vector<float> memory(first + second);
  const std::array tensors{Buffer(std::span(memory).first(first)),
                           Buffer(std::span(memory).last(second))};
  communicator.allreduce(std::span<const Buffer>(tensors), ReduceOp::sum);
}

constexpr std::array kDisagreements{
    Disagreement{"count", "count",  //
                 [](Communicator& c, std::size_t n) { allreduce(c, n); }, "allreduce",
                 [](Communicator& c, std::size_t n) { allreduce(c, n + 1); }, "allreduce"},
    Disagreement{"nothing_to_reduce", "count",  //
                 [](Communicator& c, std::size_t n) { allreduce(c, n); }, "allreduce",
                 [](Communicator& c, std::size_t) { allreduce(c, 0); }, "of 0 bfloat16"},
    Disagreement{"type", "type",  //
                 [](Communicator& c, std::size_t n) { broadcast(c, n, 0); }, "float32",
                 [](Communicator& c, std::size_t n) {
                   std::vector<std::int32_t> data(n);
                   c.broadcast(std::span(data), 0);
                 },
                 "int32"},
    Disagreement{"op", "op",  //
                 [](Communicator& c, std::size_t n) { allreduce(c, n, ReduceOp::min); }, "min",
                 [](Communicator& c, std::size_t n) { allreduce(c, n, ReduceOp::max); }, "max"},
    Disagreement{"root", "root",  //
                 [](Communicator& c, std::size_t n) { broadcast(c, n, 0); }, "root 0",
                 [](Communicator& c, std::size_t n) { broadcast(c, n, 1); }, "root 1"},
    Disagreement{"collective", "collective",  //
                 [](Communicator& c, std::size_t n) { allreduce(c, n); }, "allreduce",
                 [](Communicator& c, std::size_t n) { broadcast(c, n, 0); }, "broadcast"},
    Disagreement{"barrier", "collective",  //
                 [](Communicator& c, std::size_t n) { allreduce(c, n); }, "allreduce",
                 [](Communicator& c, std::size_t) { c.barrier(); }, "barrier"},
    Disagreement{"split", "collective",  //
                 [](Communicator& c, std::size_t n) { allreduce(c, n); }, "allreduce",
                 [](Communicator& c, std::size_t) { c.split(0); }, "split"},
    Disagreement{"algorithm", "algorithm",
                 [](Communicator& c, std::size_t n) {
                   allreduce(c, n, ReduceOp::sum, {.algorithm = "ring"});
                 },
                 "ring",
                 [](Communicator& c, std::size_t n) {
                   allreduce(c, n, ReduceOp::sum, {.algorithm = "recursive_doubling"});
                 },
                 "recursive_doubling"},
    Disagreement{"segment_bytes", "segment_bytes",
                 [](Communicator& c, std::size_t n) {
                   allreduce(c, n, ReduceOp::sum, {.segment_bytes = 100});
                 },
                 "segments of 100 bytes",
                 [](Communicator& c, std::size_t n) {
                   allreduce(c, n, ReduceOp::sum, {.segment_bytes = 200});
                 },
                 "segments of 200 bytes"},
    Disagreement{"wire", "wire",  //
                 [](Communicator& c, std::size_t n) { allreduce(c, n); }, "allreduce",
                 [](Communicator& c, std::size_t n) {
                   allreduce(c, n, ReduceOp::sum, {.wire = Wire::narrow});
                 },
                 "narrow"},
    Disagreement{"deterministic", "deterministic",
                 [](Communicator& c, std::size_t n) {
                   allreduce(c, n, ReduceOp::sum, {.algorithm = "butterfly"});
                 },
                 "butterfly",
                 [](Communicator& c, std::size_t n) {
                   allreduce(c, n, ReduceOp::sum,
                             {.algorithm = "butterfly", .deterministic = true});
                 },
                 "deterministic"},
    Disagreement{
        "scale", "scale",  //
        [](Communicator& c, std::size_t n) { allreduce(c, n); }, "allreduce",
        [](Communicator& c, std::size_t n) { allreduce(c, n, ReduceOp::sum, {.scale = 0.25}); },
        "scale 0.25"},
    Disagreement{"sizes_of_blocks", "sizes of blocks",  //
                 [](Communicator& c, std::size_t n) { allgather_v(c, n, 4, 1); }, "allgather",
                 [](Communicator& c, std::size_t n) { allgather_v(c, n, 3, 1); }, "allgather"},
    Disagreement{"sizes_of_tensors", "sizes of blocks",  //
                 [](Communicator& c, std::size_t n) { allreduce_two(c, 4, n); }, "allreduce",
                 [](Communicator& c, std::size_t n) { allreduce_two(c, 5, n - 1); }, "allreduce"},
};

class ConformanceMismatch : public ::testing::TestWithParam<std::tuple<Disagreement, int>> {};

void expect_words(const std::string& message, std::string_view words) {
  expect(message.find(words) != std::string::npos, "\"{}\" is missing in: {}", words, message);
}

/// Every rank must be told who differs from whom, and in what; and be refused from then on.
void expect_mismatch(Communicator& communicator, const Disagreement& what, Rank odd,
                     std::size_t count) {
  const Call call = communicator.rank() == odd ? what.odd : what.usual;
  const std::string message =
      expect_error(ErrorCode::mismatch, std::string(what.name), [&] { call(communicator, count); });
  expect_words(message, what.field);
  expect_words(message, what.usual_words);
  expect_words(message, what.odd_words);
  expect_words(message, fmt::format("rank {} calls", odd));
  for (int i = 0; i < 2; ++i)
    expect_error(ErrorCode::mismatch, "the next call", [&] { communicator.barrier(); });
}

TEST_P(ConformanceMismatch, IsToldToEveryRank) {
  const auto& [what, size] = GetParam();
  for (const std::size_t count : {std::size_t{10}, std::size_t{100'003}})
    for (Rank odd = 0; odd < size; ++odd) {
      const auto errors = errors_of_communicators(size, [&](Communicator& communicator) {
        communicator.barrier();
        expect_mismatch(communicator, what, odd, count);
      });
      for (Rank rank = 0; rank < size; ++rank) {
        SCOPED_TRACE(
            fmt::format("{} elements, rank {} differs, seen by rank {}", count, odd, rank));
        EXPECT_NO_THROW(if (errors[rank]) std::rethrow_exception(errors[rank]));
      }
    }
}

INSTANTIATE_TEST_SUITE_P(OnThreads, ConformanceMismatch,
                         ::testing::Combine(::testing::ValuesIn(kDisagreements),
                                            ::testing::Values(2, 3, 4, 5)),
                         [](const auto& test) {
                           return std::string(std::get<0>(test.param).name) + "_" +
                                  std::to_string(std::get<1>(test.param)) + "_ranks";
                         });

TEST(ConformanceAgreement, TimeoutsMayDiffer) {
  run_communicators(3, [](Communicator& communicator) {
    const std::chrono::seconds timeout(100 + communicator.rank());
    allreduce(communicator, 100, ReduceOp::sum, {.timeout = timeout});
  });
}

TEST(ConformanceAgreement, SomeRanksMayWorkInPlace) {
  run_communicators(3, [](Communicator& communicator) {
    std::vector<float> in(100, 1.0f);
    std::vector<float> out(100);
    const bool in_place = communicator.rank() == 1;
    communicator.allreduce(ConstBuffer(std::span(in)), Buffer(std::span(in_place ? in : out)),
                           ReduceOp::sum);
    expect((in_place ? in : out)[99] == 3.0f, "wrong sum");
  });
}

}  // namespace
}  // namespace rondo::testing
