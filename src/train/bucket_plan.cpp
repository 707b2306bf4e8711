#include "train/bucket_plan.hpp"

#include <algorithm>
#include <array>

namespace rondo::train {

std::vector<BucketPlan> plan_buckets(std::span<const BucketItem> items, BucketLimits limits) {
  struct Open {
    std::vector<std::size_t> items;
    std::size_t bytes = 0;
    std::size_t limit;
  };
  std::array<Open, kDataTypes> open;
  open.fill(Open{{}, 0, limits.first});
  std::vector<BucketPlan> plan;
  const auto close = [&](DataType type) {
    Open& bucket = open[static_cast<std::size_t>(type)];
    if (!bucket.items.empty()) plan.push_back({type, std::move(bucket.items)});
    bucket = {{}, 0, limits.other};
  };

  for (std::size_t i = items.size(); i-- > 0;) {
    const auto [bytes, type] = items[i];
    Open& bucket = open[static_cast<std::size_t>(type)];
    if (!bucket.items.empty() && bucket.bytes + bytes > bucket.limit) close(type);
    bucket.items.push_back(i);
    bucket.bytes += bytes;
  }
  for (int type = 0; type < kDataTypes; ++type) close(static_cast<DataType>(type));
  // A bucket is complete with its last item.
  std::ranges::sort(plan, std::greater{}, [](const BucketPlan& b) { return b.items.back(); });
  return plan;
}

}  // namespace rondo::train
