#include "train/bucket_shards.hpp"

#include <algorithm>
#include <numeric>

namespace rondo::train {

namespace {

/// The place, of those where a cut is allowed, that is nearest to `target`.
std::size_t nearest_cut(std::span<const std::size_t> counts, std::size_t target,
                        std::size_t block) {
  std::size_t begin = 0;
  for (const std::size_t count : counts) {
    if (target < begin + count) {
      const std::size_t below = begin + (target - begin) / block * block;
      const std::size_t above = std::min(below + block, begin + count);
      return target - below <= above - target ? below : above;
    }
    begin += count;
  }
  return begin;
}

}  // namespace

std::vector<std::size_t> shard_counts(std::span<const std::size_t> counts, int ranks,
                                      std::size_t block) {
  const std::size_t total = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  const auto parts = static_cast<std::size_t>(ranks);
  std::vector<std::size_t> owned;
  std::size_t begin = 0;
  for (std::size_t rank = 1; rank <= parts; ++rank) {
    // total·rank/parts, without overflow
    const std::size_t target = total / parts * rank + total % parts * rank / parts;
    const std::size_t end = nearest_cut(counts, target, block);
    owned.push_back(end - begin);
    begin = end;
  }
  return owned;
}

}  // namespace rondo::train
