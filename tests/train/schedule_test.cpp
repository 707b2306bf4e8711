#include <rondo/train/schedule.hpp>

#include <limits>
#include <map>
#include <string>

#include <rondo/error.hpp>

#include "train/golden.hpp"

namespace rondo::train {
namespace {

TEST(Schedule, FollowsPyTorch) {
  const std::map<std::string, Schedule::Shape> shapes{{"constant", Schedule::Shape::constant},
                                                      {"cosine", Schedule::Shape::cosine},
                                                      {"step", Schedule::Shape::step}};
  for (const nlohmann::json& one : testing::golden("schedules.json")) {
    const Schedule schedule{.base = 0.3,
                            .shape = shapes.at(one["shape"]),
                            .warmup_steps = one["warmup"],
                            .total_steps = one["total"],
                            .decay_every = one.value("every", std::uint64_t{0}),
                            .decay = one.value("decay", 0.0)};
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
  using Shape = Schedule::Shape;
  for (const Shape shape : {Shape::constant, Shape::cosine, Shape::step}) {
    const Schedule schedule{
        .base = 0.4, .shape = shape, .warmup_steps = 4, .total_steps = 9, .decay_every = 2};
    EXPECT_DOUBLE_EQ(schedule.at(0), 0.1);
    EXPECT_DOUBLE_EQ(schedule.at(2), 0.3);
    EXPECT_DOUBLE_EQ(schedule.at(3), 0.4);
    EXPECT_DOUBLE_EQ(schedule.at(4), 0.4);  // the first step after it
  }
}

TEST(Schedule, DecaysInSteps) {
  const Schedule schedule{
      .base = 1, .shape = Schedule::Shape::step, .warmup_steps = 1, .decay_every = 3, .decay = 0.5};
  const double expected[] = {1, 1, 1, 1, 0.5, 0.5, 0.5, 0.25};
  for (std::uint64_t step = 0; step < 8; ++step) EXPECT_EQ(schedule.at(step), expected[step]);
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
  EXPECT_THROW((Schedule{.base = 1.0, .shape = Shape::step}.check()), Error);
  for (const double decay : {-0.1, 1.1, nan})
    EXPECT_THROW(
        (Schedule{.base = 1.0, .shape = Shape::step, .decay_every = 1, .decay = decay}.check()),
        Error);
  EXPECT_NO_THROW((Schedule{.base = 1.0, .shape = Shape::step, .decay_every = 1}.check()));
  EXPECT_NO_THROW(
      (Schedule{.base = 1.0, .shape = Shape::cosine, .warmup_steps = 4, .total_steps = 4}.check()));
}

}  // namespace
}  // namespace rondo::train
