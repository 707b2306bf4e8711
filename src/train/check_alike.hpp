#pragma once

#include <span>
#include <string>
#include <string_view>

#include <rondo/train/array.hpp>

namespace rondo {
class Communicator;
}

namespace rondo::train {

/// Throws Error(mismatch) on every rank, naming the ranks that differ from rank 0, unless all ranks
/// pass the same `text` (compared by a 64-bit digest). `what` begins the message: "the parameters
/// registered". Collective.
void check_alike(Communicator& communicator, std::string_view what, std::string_view text);

/// The arrays' names, types and shapes, for check_alike().
std::string describe(std::span<const ArrayView> arrays);

}  // namespace rondo::train
