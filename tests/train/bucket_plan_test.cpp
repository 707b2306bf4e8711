#include "train/bucket_plan.hpp"

#include <gtest/gtest.h>

namespace rondo::train {
namespace {

using Items = std::vector<std::size_t>;

std::vector<Items> items_of(const std::vector<BucketPlan>& plan) {
  std::vector<Items> result;
  for (const BucketPlan& bucket : plan) result.push_back(bucket.items);
  return result;
}

TEST(BucketPlan, FillsFromTheLastItemAndKeepsTheFirstBucketSmall) {
  const std::vector<BucketItem> items(6, {4, DataType::float32});
  EXPECT_EQ(items_of(plan_buckets(items, {.first = 8, .other = 12})),
            (std::vector<Items>{{5, 4}, {3, 2, 1}, {0}}));
}

TEST(BucketPlan, GivesAnItemBeyondTheLimitABucketOfItsOwn) {
  const std::vector<BucketItem> items{{4, DataType::float32},
                                      {100, DataType::float32},
                                      {4, DataType::float32},
                                      {4, DataType::float32}};
  EXPECT_EQ(items_of(plan_buckets(items, {.first = 8, .other = 12})),
            (std::vector<Items>{{3, 2}, {1}, {0}}));
  const std::vector<BucketItem> last_is_large{{4, DataType::float32}, {100, DataType::float32}};
  EXPECT_EQ(items_of(plan_buckets(last_is_large, {.first = 8, .other = 12})),
            (std::vector<Items>{{1}, {0}}));
}

TEST(BucketPlan, NeverMixesTypesAndOrdersByCompletion) {
  const std::vector<BucketItem> items{{4, DataType::float32},
                                      {2, DataType::bfloat16},
                                      {4, DataType::float32},
                                      {2, DataType::bfloat16}};
  const std::vector<BucketPlan> plan = plan_buckets(items, {.first = 100, .other = 100});
  // Last to first, the 16-bit bucket is complete with item 1, the other with item 0.
  ASSERT_EQ(items_of(plan), (std::vector<Items>{{3, 1}, {2, 0}}));
  EXPECT_EQ(plan[0].type, DataType::bfloat16);
  EXPECT_EQ(plan[1].type, DataType::float32);
}

TEST(BucketPlan, TakesNoItemsAndEmptyItems) {
  EXPECT_TRUE(plan_buckets({}, {.first = 8, .other = 12}).empty());
  const std::vector<BucketItem> items{{0, DataType::float64}, {0, DataType::float64}};
  EXPECT_EQ(items_of(plan_buckets(items, {.first = 8, .other = 12})), (std::vector<Items>{{1, 0}}));
}

}  // namespace
}  // namespace rondo::train
