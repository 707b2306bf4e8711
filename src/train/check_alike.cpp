#include "train/check_alike.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <rondo/communicator.hpp>

#include "core/digest.hpp"

namespace rondo::train {

void check_alike(Communicator& communicator, std::string_view what, std::string_view text) {
  core::Digest digest;
  digest.add(text);
  const std::uint64_t mine = digest.value();
  std::vector<std::uint64_t> all(static_cast<std::size_t>(communicator.size()));
  communicator.allgather(ConstBuffer(std::span(&mine, 1)), Buffer(std::span(all)));

  std::vector<Rank> others;
  for (Rank rank = 0; rank < communicator.size(); ++rank)
    if (all[rank] != all[0]) others.push_back(rank);
  if (!others.empty())
    throw Error(ErrorCode::mismatch,
                fmt::format("{} on rank {} differ from those of rank 0 in name, type, shape or "
                            "order; make them alike on all ranks (rank {} has: {:.300})",
                            what, fmt::join(others, ", "), communicator.rank(), text));
}

std::string describe(std::span<const ArrayView> arrays) {
  std::string text;
  for (const ArrayView& array : arrays)
    text +=
        fmt::format("{} {} [{}]; ", array.name, name_of(array.type), fmt::join(array.shape, ", "));
  return text;
}

}  // namespace rondo::train
