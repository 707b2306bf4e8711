#include "train/same_data.hpp"

#include <fmt/core.h>

#include <rondo/error.hpp>
#include <rondo/train/agree.hpp>

namespace rondo::train {

void check_same_fingerprint(Communicator& communicator, std::uint64_t mine) {
  std::uint64_t first[] = {mine};
  communicator.broadcast(std::span<std::uint64_t>(first), 0);
  agree(communicator, [&] {
    if (mine != first[0])
      throw Error(
          ErrorCode::mismatch,
          fmt::format("this rank read data that differs from rank 0's (fingerprint {:016x}, "
                      "not {:016x}); give every rank the same file",
                      mine, first[0]));
  });
}

}  // namespace rondo::train
