#pragma once

#include <span>

#include <rondo/train/array.hpp>

namespace rondo {
class Communicator;
}

namespace rondo::train {

/// Gives every rank rank 0's contents of `arrays`, so that replicas start alike; small arrays
/// travel together. Collective and blocking. Throws Error(mismatch), on all ranks and with nothing
/// changed, when names, types or shapes are not those of rank 0; it names the ranks.
void broadcast_parameters(Communicator& communicator, std::span<const ArrayView> arrays);

}  // namespace rondo::train
