#include "core/trace.hpp"

#include <gtest/gtest.h>

namespace rondo::core {
namespace {

TEST(Trace, HoldsWhatHappenedBetweenStartAndEnd) {
  trace({.name = "before"});
  start_trace();
  EXPECT_TRUE(tracing());
  trace({.name = "during", .track = Track::blocking, .bytes = 8});
  const Trace taken = end_trace();
  EXPECT_FALSE(tracing());
  trace({.name = "after"});
  ASSERT_EQ(taken.events.size(), 1U);
  EXPECT_EQ(taken.events[0].name, "during");
  EXPECT_EQ(taken.events[0].bytes, 8U);
  EXPECT_EQ(taken.lost, 0U);
  start_trace();
  EXPECT_TRUE(end_trace().events.empty());
}

TEST(Trace, CountsWhatIsBeyondItsBound) {
  start_trace();
  for (std::size_t i = 0; i < kMostTraceEvents + 3; ++i) trace({.name = "event"});
  const Trace taken = end_trace();
  EXPECT_EQ(taken.events.size(), kMostTraceEvents);
  EXPECT_EQ(taken.lost, 3U);
}

}  // namespace
}  // namespace rondo::core
