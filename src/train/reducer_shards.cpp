#include <algorithm>
#include <memory>
#include <numeric>

#include <fmt/core.h>

#include <rondo/communicator.hpp>

#include "train/block_norm.hpp"
#include "train/bucket_shards.hpp"
#include "train/reducer_parts.hpp"

// Which rank owns which elements, and how the others get them.
namespace rondo::train {

/// In whole blocks, so that norms don't depend on it.
void GradientReducer::deal_out(Bucket& bucket) {
  std::vector<std::size_t> counts;
  for (const std::size_t i : bucket.entries) counts.push_back(entries_[i].count);
  BucketShards shards{shard_counts(counts, communicator_.size(), kNormBlock), {}};
  const auto mine = shards.counts.begin() + communicator_.rank();
  const std::size_t begin = std::accumulate(shards.counts.begin(), mine, std::size_t{0});
  const std::size_t end = begin + *mine;
  shards.own = {begin, *mine};
  std::size_t place = 0;
  for (const std::size_t i : bucket.entries) {
    Entry& entry = entries_[i];
    const std::size_t first = std::clamp(begin, place, place + entry.count);
    const std::size_t last = std::clamp(end, place, place + entry.count);
    entry.own = {first - place, last - first};
    place += entry.count;
  }
  bucket.shards = std::make_unique<BucketShards>(std::move(shards));
}

Slice GradientReducer::slice(std::size_t i) {
  check_registered(i);
  lay_out();
  return entries_[i].own;
}

void GradientReducer::gather(std::span<const Buffer> values) {
  if (!options_.shard || phase_ != Phase::idle || !agreed_)
    throw Error(ErrorCode::usage, "gather() is for sharded gradients, after finish()");
  bool fits = values.size() == entries_.size();
  for (std::size_t i = 0; fits && i < values.size(); ++i)
    fits = values[i].count == entries_[i].count && values[i].type == entries_[i].type;
  if (!fits)
    throw Error(ErrorCode::usage, "gather() takes values of the type and size of each parameter");
  for (Bucket& bucket : buckets_) {
    for (const std::size_t i : bucket.entries)
      copy(part_of(values[i], entries_[i].own), entries_[i].own_in_bucket());
    exchange({.kind = Exchange::Kind::gather,
              .input = bucket.own(),
              .output = bucket.buffer(),
              .counts = bucket.shards->counts},
             communicator_, bucket.request);
  }
  for (Bucket& bucket : buckets_) {
    wait_for(bucket.request);
    for (const std::size_t i : bucket.entries) copy(entries_[i].in_bucket(), values[i]);
  }
}

}  // namespace rondo::train
