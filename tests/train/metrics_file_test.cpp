#include <rondo/train/metrics_file.hpp>

#include <fstream>
#include <limits>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"
#include "support/thread_communicators.hpp"

namespace rondo::train {
namespace {

using rondo::testing::errors_of_communicators;
using rondo::testing::expect_error;
using rondo::testing::read_file;
using rondo::testing::run_communicators;
using rondo::testing::TemporaryFolder;

class MetricsFileTest : public ::testing::Test {
 protected:
  /// Writes the epochs from `first` to `last`, with a loss that tells the run.
  void write_epochs(std::uint64_t first, std::uint64_t last, double loss) {
    run_communicators(2, [&](Communicator& communicator) {
      MetricsFile file(communicator, path_, first - 1);
      for (std::uint64_t epoch = first; epoch <= last; ++epoch)
        file.write({epoch, 10 * epoch, loss, 0.5, 100, {.communication = 8, .exposed = 2}});
    });
  }
  std::vector<nlohmann::json> lines() {
    std::vector<nlohmann::json> parsed;
    std::istringstream text(read_file(path_));
    for (std::string line; std::getline(text, line);) parsed.push_back(nlohmann::json::parse(line));
    return parsed;
  }

  TemporaryFolder folder_;
  std::string path_ = folder_.path("m.jsonl");
};

TEST_F(MetricsFileTest, HasOneObjectAnEpoch) {
  write_epochs(1, 2, 0.1);
  EXPECT_EQ(read_file(path_),
            "{\"epoch\":1,\"step\":10,\"loss\":0.1,\"lr\":0.5,\"samples_per_second\":100.0,"
            "\"communication_seconds\":8.0,\"exposed_seconds\":2.0,\"overlap\":0.75}\n"
            "{\"epoch\":2,\"step\":20,\"loss\":0.1,\"lr\":0.5,\"samples_per_second\":100.0,"
            "\"communication_seconds\":8.0,\"exposed_seconds\":2.0,\"overlap\":0.75}\n");
}

TEST_F(MetricsFileTest, BeginsAnewUnlessResumed) {
  write_epochs(1, 5, 0.1);
  write_epochs(1, 2, 0.2);
  EXPECT_EQ(lines().size(), 2U);
}

TEST_F(MetricsFileTest, KeepsWhatComesBeforeTheResumedEpoch) {
  write_epochs(1, 5, 0.1);
  std::ofstream(path_, std::ios::app) << "{\"epoch\":6,\"st";  // killed while writing
  write_epochs(4, 6, 0.2);
  const auto written = lines();
  ASSERT_EQ(written.size(), 6U);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(written[i]["epoch"], i + 1);
    EXPECT_EQ(written[i]["loss"], i < 3 ? 0.1 : 0.2);
  }
}

TEST_F(MetricsFileTest, DoesNotTouchAFileOfSomethingElseWhenResumed) {
  folder_.write("m.jsonl", "my notes\n");
  expect_error(ErrorCode::corrupt_file, {path_}, [&] { write_epochs(2, 2, 0.1); });
  EXPECT_EQ(read_file(path_), "my notes\n");
}

TEST_F(MetricsFileTest, StaysJsonWhenTheLossIsNotFinite) {
  write_epochs(1, 1, std::numeric_limits<double>::quiet_NaN());
  EXPECT_TRUE(lines()[0]["loss"].is_null());
}

TEST_F(MetricsFileTest, ReportsFailuresOnEveryRank) {
  for (const char* path : {"/dev/full", "/nowhere/m.jsonl"})
    for (const std::exception_ptr& error :
         errors_of_communicators(3, [&](Communicator& communicator) {
           MetricsFile file(communicator, path);
           file.write({1, 1, 1, 1, 1});
         })) {
      ASSERT_NE(error, nullptr);
      expect_error(ErrorCode::system, {path}, [&] { std::rethrow_exception(error); });
    }
}

TEST_F(MetricsFileTest, MayBeNone) {
  run_communicators(2, [](Communicator& communicator) {
    MetricsFile(communicator, "").write({1, 1, 1, 1, 1});
  });
}

}  // namespace
}  // namespace rondo::train
