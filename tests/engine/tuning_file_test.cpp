#include "collectives/tuning.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"
#include "support/thread_communicators.hpp"

namespace rondo {
namespace {

using collectives::Collective;
using collectives::Placement;
using collectives::Tuning;
using collectives::TuningTable;

constexpr int kRanks = 3;

Placement placement(int ranks) { return {"threads", ranks, 1, ranks, true}; }

/// All-reduces of up to 4,000 bytes by one algorithm.
TuningTable always(std::string_view algorithm) {
  TuningTable table;
  table.add(
      Collective::allreduce,
      {4'000, {{&collectives::find_algorithm(Collective::allreduce, algorithm), 1'000, 1.0}}});
  return table;
}

/// A communicator for which rank 0, and no other, has been told of a tuning file.
Communicator tuned_communicator(transport::Transport& transport, const std::string& path) {
  core::Settings settings;
  settings.on_failure = core::Settings::OnFailure::throw_error;
  if (transport.rank() == 0) settings.tuning_file = path;
  return testing::make_communicator(transport.split(0, transport.rank()), {}, settings);
}

std::string_view algorithm_for(Communicator& communicator, std::size_t count) {
  std::vector<float> data(count);
  communicator.allreduce(std::span(data), ReduceOp::sum);
  return communicator.last_algorithm();
}

TEST(TuningFile, OfRank0DecidesOnAllRanks) {
  const testing::TemporaryFolder folder;
  Tuning tuning;
  tuning.set(placement(kRanks), always("binomial_tree"));
  tuning.write(folder.path("tuning.json"));
  transport::ThreadWorld world(kRanks);
  testing::run_ranks(world, [&](transport::Transport& transport) {
    Communicator all = tuned_communicator(transport, folder.path("tuning.json"));
    EXPECT_EQ(algorithm_for(all, 1'000), "binomial_tree");
    EXPECT_EQ(algorithm_for(all, 1'001), "node, small") << "was not measured";
  });
}

TEST(TuningFile, DecidesForCallsThatDoNotWaitToo) {
  const testing::TemporaryFolder folder;
  Tuning tuning;
  tuning.set(placement(kRanks), always("binomial_tree"));
  tuning.write(folder.path("tuning.json"));
  transport::ThreadWorld world(kRanks);
  testing::run_ranks(world, [&](transport::Transport& transport) {
    Communicator all = tuned_communicator(transport, folder.path("tuning.json"));
    std::vector<float> data(1'000);
    all.iallreduce(std::span(data), ReduceOp::sum).wait();
    EXPECT_EQ(all.last_algorithm(), "binomial_tree");
  });
}

TEST(TuningFile, HasATableForEachCommunicatorThatIsSplitOff) {
  const testing::TemporaryFolder folder;
  Tuning tuning;
  tuning.set(placement(kRanks), always("binomial_tree"));
  tuning.set(placement(2), always("recursive_doubling"));
  tuning.write(folder.path("tuning.json"));
  transport::ThreadWorld world(kRanks);
  testing::run_ranks(world, [&](transport::Transport& transport) {
    Communicator all = tuned_communicator(transport, folder.path("tuning.json"));
    Communicator part = all.split(transport.rank() == 2 ? 1 : 0);
    if (part.size() == 2) {
      EXPECT_EQ(algorithm_for(part, 10), "recursive_doubling");
    }
    EXPECT_EQ(algorithm_for(all, 10), "binomial_tree");
  });
}

TEST(TuningFile, ThatIsDamagedFailsOnAllRanksWithItsName) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.write("tuning.json", "{\"rondo_tuning\": 1,");
  transport::ThreadWorld world(kRanks);
  const auto errors = testing::errors_of_ranks(
      world, [&](transport::Transport& transport) { tuned_communicator(transport, path); });
  for (const auto& error : errors) {
    ASSERT_TRUE(error);
    testing::expect_error(ErrorCode::corrupt_file, {"tuning.json"},
                          [&] { std::rethrow_exception(error); });
  }
}

}  // namespace
}  // namespace rondo
