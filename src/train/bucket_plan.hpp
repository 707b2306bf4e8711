#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <rondo/types.hpp>

namespace rondo::train {

/// A parameter, as far as the layout of buckets goes.
struct BucketItem {
  std::size_t bytes;
  DataType type;
};

/// Which parameters (indices into the items) share a bucket, in the order in which they lie in it.
struct BucketPlan {
  DataType type;
  std::vector<std::size_t> items;
};

struct BucketLimits {
  std::size_t first;  // bytes, of each type's first bucket
  std::size_t other;
};

/// Puts items into buckets, from the last item to the first. An item that would take its type's
/// open bucket beyond the limit opens the next one, so one that is larger than the limit is alone.
/// Buckets are in the order in which they are complete when items become ready last to first.
std::vector<BucketPlan> plan_buckets(std::span<const BucketItem> items, BucketLimits limits);

}  // namespace rondo::train
