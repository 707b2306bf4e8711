#pragma once

#include <span>

#include <rondo/train/array.hpp>

namespace rondo {
class Communicator;
}

namespace rondo::train {

// Both are collective. They throw Error(usage) on every rank, with nothing moved, unless the slices
// of all ranks cover each array exactly once.

/// Puts the ranks' shards together in `wholes`, one array for each, which only rank 0 needs.
void gather_shards(Communicator& communicator, std::span<const ArrayShard> shards,
                   std::span<const ArrayView> wholes);

/// Deals rank 0's arrays `wholes` out to the shards of all ranks.
void scatter_shards(Communicator& communicator, std::span<const ArrayView> wholes,
                    std::span<const ArrayShard> shards);

}  // namespace rondo::train
