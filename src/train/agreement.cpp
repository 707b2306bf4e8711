#include "train/agreement.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <rondo/communicator.hpp>

namespace rondo::train {

namespace {

/// FNV-1a (Fowler, Noll & Vo, 1991).
std::uint64_t digest(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char character : text) {
    hash ^= static_cast<unsigned char>(character);
    hash *= 0x100000001b3U;
  }
  return hash;
}

}  // namespace

void check_alike(Communicator& communicator, std::string_view what, std::string_view text) {
  std::uint64_t mine = digest(text);
  std::vector<std::uint64_t> all(static_cast<std::size_t>(communicator.size()));
  communicator.allgather(ConstBuffer(std::span(&mine, 1)), Buffer(std::span(all)));

  std::vector<Rank> others;
  for (Rank rank = 0; rank < communicator.size(); ++rank)
    if (all[rank] != all[0]) others.push_back(rank);
  if (!others.empty())
    throw Error(ErrorCode::mismatch,
                fmt::format("{} on rank {} differ from those of rank 0 in name, type, shape or "
                            "order; make them alike on all ranks (this is rank {}, which has: {})",
                            what, fmt::join(others, ", "), communicator.rank(), text));
}

}  // namespace rondo::train
