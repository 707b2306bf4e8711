#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <rondo/train/reducer.hpp>

#include "support/thread_communicators.hpp"

namespace rondo::train {
namespace {

using rondo::testing::run_communicators;
using namespace std::chrono_literals;

constexpr auto kPause = 150ms;
constexpr double kPauseSeconds = 0.15;
constexpr std::size_t kCount = 16;

/// A reducer of three parameters, each in a bucket of its own.
class ThreeBuckets {
 public:
  explicit ThreeBuckets(Communicator& communicator, bool overlap = true)
      : reducer_(communicator, {.bucket_bytes = 64, .first_bucket_bytes = 64, .overlap = overlap}) {
    for (const char* name : {"a", "b", "c"}) reducer_.add(name, kCount, DataType::float32);
  }
  GradientReducer& operator*() { return reducer_; }
  GradientReducer* operator->() { return &reducer_; }

 private:
  GradientReducer reducer_;
};

void expect_consistent(const ReducerStats& stats) {
  ASSERT_EQ(stats.bucket_times.size(), 3U);
  double launched = 0;
  double finished = 0;  // the latest: two buckets travel at a time
  double waited = 0;
  for (const BucketTimes& times : stats.bucket_times) {
    EXPECT_GT(times.ready, 0);
    EXPECT_GE(times.launched, times.ready);
    EXPECT_GE(times.launched, launched) << "in order";
    EXPECT_GE(times.finished, times.launched);
    EXPECT_GE(times.waited, 0);
    launched = times.launched;
    finished = std::max(finished, times.finished);
    waited += times.waited;
  }
  EXPECT_GT(stats.communication, 0);
  EXPECT_LE(stats.communication, finished - stats.bucket_times[0].launched + 1e-6);
  EXPECT_LE(waited, stats.exposed + 1e-9);
}

TEST(ReducerTimes, AreInOrderWhateverIsReadyFirst) {
  run_communicators(2, [](Communicator& communicator) {
    ThreeBuckets reducer(communicator);
    for (int step = 0; step < 2; ++step) {
      reducer->begin(1);
      reducer->ready(0);
      std::this_thread::sleep_for(2ms);
      reducer->ready(1);
      reducer->ready(2);  // the first bucket's
      reducer->finish();
      expect_consistent(reducer->stats());
      EXPECT_LT(reducer->stats().bucket_times[2].ready, reducer->stats().bucket_times[0].ready);
    }
  });
}

TEST(ReducerTimes, AReductionThatEndsWhileOneComputesIsNotExposed) {
  run_communicators(2, [](Communicator& communicator) {
    ThreeBuckets reducer(communicator);
    reducer->begin(1);
    for (const std::size_t i : {2, 1, 0}) reducer->ready(i);
    std::this_thread::sleep_for(kPause);
    reducer->finish();
    expect_consistent(reducer->stats());
    for (const BucketTimes& times : reducer->stats().bucket_times)
      EXPECT_LT(times.finished, kPauseSeconds) << "when it was over, not when it was waited for";
    EXPECT_LT(reducer->stats().exposed, kPauseSeconds);
  });
}

TEST(ReducerTimes, WaitingForALateRankIsExposed) {
  for (const bool overlap : {true, false})
    run_communicators(2, [&](Communicator& communicator) {
      ThreeBuckets reducer(communicator, overlap);
      reducer->begin(1);
      reducer->ready(2);
      if (communicator.rank() == 1) std::this_thread::sleep_for(kPause);
      for (const std::size_t i : {1, 0}) reducer->ready(i);
      reducer->finish();
      expect_consistent(reducer->stats());
      if (communicator.rank() == 1) return;
      EXPECT_GT(reducer->stats().exposed, 0.9 * kPauseSeconds);
      EXPECT_GT(reducer->stats().bucket_times[1].waited, 0.9 * kPauseSeconds) << overlap;
      EXPECT_GT(reducer->stats().communication, 0.9 * kPauseSeconds) << overlap;
      EXPECT_LT(reducer->stats().overlap(), 0.5);
    });
}

TEST(ReducerTimes, AStepWithoutSamplesCommunicatesNothing) {
  run_communicators(2, [](Communicator& communicator) {
    ThreeBuckets reducer(communicator);
    reducer->begin(0);
    reducer->finish();
    EXPECT_EQ(reducer->stats().communication, 0);
  });
}

TEST(CommunicationTimes, AddUp) {
  CommunicationTimes sum{.communication = 1, .exposed = 0.5};
  sum += {.communication = 3, .exposed = 0.5};
  EXPECT_EQ(sum.overlap(), 0.75);
  EXPECT_EQ((CommunicationTimes{.communication = 1, .exposed = 2}.overlap()), 0);
  EXPECT_EQ(CommunicationTimes{}.overlap(), 1);
}

}  // namespace
}  // namespace rondo::train
