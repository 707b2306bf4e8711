#include <rondo/train/schedule.hpp>

#include <limits>

#include <rondo/error.hpp>

#include "train/golden.hpp"

namespace rondo::train {
namespace {

TEST(Schedule, FollowsPyTorch) {
  for (const nlohmann::json& one : testing::golden("schedules.json")) {
    const Schedule schedule{
        .base = 0.3,
        .shape = one["shape"] == "cosine" ? Schedule::Shape::cosine : Schedule::Shape::constant,
        .warmup_steps = one["warmup"],
        .total_steps = one["total"]};
    schedule.check();
    const std::vector<double> rates = one["rates"];
    for (std::size_t step = 0; step < rates.size(); ++step)
      EXPECT_NEAR(schedule.at(step), rates[step], 1e-15) << one["shape"] << " step " << step;
  }
}

TEST(Schedule, CosineEndsAtZeroAndStaysThere) {
  const Schedule schedule{.base = 1.0, .shape = Schedule::Shape::cosine, .total_steps = 10};
  EXPECT_EQ(schedule.at(0), 1.0);
  EXPECT_GT(schedule.at(9), 0.0);
  EXPECT_EQ(schedule.at(10), 0.0);
  EXPECT_EQ(schedule.at(1'000'000), 0.0);
}

TEST(Schedule, WarmsUpToTheBaseAndNeverStartsAtZero) {
  const Schedule schedule{.base = 0.4, .warmup_steps = 4};
  EXPECT_DOUBLE_EQ(schedule.at(0), 0.1);
  EXPECT_DOUBLE_EQ(schedule.at(2), 0.3);
  EXPECT_DOUBLE_EQ(schedule.at(3), 0.4);
  EXPECT_DOUBLE_EQ(schedule.at(4), 0.4);
}

TEST(Schedule, RefusesWhatCannotBe) {
  using Shape = Schedule::Shape;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW((Schedule{.base = -1.0}.check()), Error);
  EXPECT_THROW((Schedule{.base = nan}.check()), Error);
  EXPECT_THROW((Schedule{.base = 1.0, .shape = Shape::cosine}.check()), Error);
  EXPECT_THROW(
      (Schedule{.base = 1.0, .shape = Shape::cosine, .warmup_steps = 5, .total_steps = 4}.check()),
      Error);
  EXPECT_NO_THROW(
      (Schedule{.base = 1.0, .shape = Shape::cosine, .warmup_steps = 4, .total_steps = 4}.check()));
}

}  // namespace
}  // namespace rondo::train
