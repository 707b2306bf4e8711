#include <rondo/train/broadcast.hpp>

#include <algorithm>
#include <thread>

#include <gtest/gtest.h>

#include <rondo/train/blas_threads.hpp>
#include <rondo/train/tensor.hpp>

#include "support/expect_error.hpp"
#include "support/thread_communicators.hpp"

namespace rondo::train {
namespace {

using rondo::testing::errors_of_communicators;
using rondo::testing::expect_error;
using rondo::testing::run_communicators;

TEST(BroadcastParameters, GivesEveryRankTheValuesOfRank0) {
  for (const int ranks : {1, 2, 3, 5})
    run_communicators(ranks, [](Communicator& communicator) {
      // Small ones of mixed types and sizes, an empty one, one beyond what travels together, a
      // small one behind it.
      Tensor<float> small({3});
      Tensor<double> matrix({5, 7});
      Tensor<float> empty({0});
      Tensor<float> large({300'001});
      Tensor<double> last({1});
      std::int64_t step = 10 + communicator.rank();
      const auto fill = [&](auto& tensor) {
        for (std::size_t i = 0; i < tensor.size(); ++i) tensor[i] = float(i + 1);
        if (communicator.rank() != 0) std::ranges::fill(tensor.span(), -1.0F);
      };
      const auto expect = [](const auto& tensor) {
        for (std::size_t i = 0; i < tensor.size(); ++i) ASSERT_EQ(tensor[i], float(i + 1));
      };
      fill(small), fill(matrix), fill(large), fill(last);
      const std::vector<ArrayView> arrays{
          small.view("small"),   {"step", DataType::int64, {}, &step},
          matrix.view("matrix"), empty.view("empty"),
          large.view("large"),   last.view("last")};
      broadcast_parameters(communicator, arrays);
      expect(small), expect(matrix), expect(large), expect(last);
      EXPECT_EQ(step, 10);
    });
}

TEST(BroadcastParameters, TakesNoArrays) {
  run_communicators(2, [](Communicator& communicator) { broadcast_parameters(communicator, {}); });
}

TEST(BroadcastParameters, RefusesShapesThatDifferWithEquallyManyBytes) {
  const auto errors = errors_of_communicators(3, [](Communicator& communicator) {
    Tensor<float> tensor(communicator.rank() == 1 ? std::vector<std::size_t>{3, 2}
                                                  : std::vector<std::size_t>{2, 3});
    tensor[0] = static_cast<float>(communicator.rank());
    try {
      broadcast_parameters(communicator, std::vector{tensor.view("w")});
    } catch (const Error&) {
      EXPECT_EQ(tensor[0], static_cast<float>(communicator.rank()));  // nothing was changed
      throw;
    }
  });
  for (const std::exception_ptr& error : errors) {
    ASSERT_NE(error, nullptr);
    expect_error(ErrorCode::mismatch, {"on rank 1 differ"}, [&] { std::rethrow_exception(error); });
  }
}

TEST(LimitBlasThreads, RanksOfOneHostShareItsProcessors) {
  run_communicators(
      1, [](Communicator& communicator) { EXPECT_GE(limit_blas_threads(communicator), 1); });
  run_communicators(8, [](Communicator& communicator) {
    const int processors = static_cast<int>(std::thread::hardware_concurrency());
    EXPECT_LE(limit_blas_threads(communicator), std::max(1, processors / 8));
  });
}

}  // namespace
}  // namespace rondo::train
