#pragma once

#include <string_view>

namespace rondo {
class Communicator;
}

namespace rondo::train {

/// Throws Error(mismatch) on every rank, naming the ranks that differ from rank 0, unless all ranks
/// pass the same `text` (compared by a 64-bit digest). `what` begins the message: "the parameters
/// registered". Collective.
void check_alike(Communicator& communicator, std::string_view what, std::string_view text);

}  // namespace rondo::train
