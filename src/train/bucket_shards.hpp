#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace rondo::train {

/// How many of a bucket's elements each rank owns, in rank order: about equally many. `counts` are
/// those of the parameters, in the order in which they lie in the bucket. Cuts are made only where
/// a block of `block` elements of a parameter begins, or a parameter.
std::vector<std::size_t> shard_counts(std::span<const std::size_t> counts, int ranks,
                                      std::size_t block);

}  // namespace rondo::train
