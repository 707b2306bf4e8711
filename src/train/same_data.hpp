#pragma once

#include <cstdint>

#include <rondo/communicator.hpp>

namespace rondo::train {

/// Throws Error(mismatch) on all ranks, naming the first whose data is not rank 0's. Collective.
void check_same_fingerprint(Communicator& communicator, std::uint64_t mine);

}  // namespace rondo::train
