#include "train/shards.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <rondo/communicator.hpp>
#include <rondo/error.hpp>

namespace rondo::train {
namespace {

/// Which slice of which array each rank has.
class Slices {
 public:
  Slices(Communicator& communicator, std::span<const ArrayShard> shards)
      : shards_(shards.size()), slices_(shards.size() * std::size_t(communicator.size())) {
    std::vector<std::uint64_t> mine;
    for (const ArrayShard& shard : shards) {
      mine.push_back(shard.slice.begin);
      mine.push_back(shard.slice.count);
    }
    std::vector<std::uint64_t> all(2 * slices_.size());
    communicator.allgather(std::span<const std::uint64_t>(mine), std::span(all));
    for (std::size_t i = 0; i < slices_.size(); ++i) slices_[i] = {all[2 * i], all[2 * i + 1]};
    for (std::size_t i = 0; i < shards.size(); ++i) check_cover(shards[i].array, i);
  }

  Slice of(Rank rank, std::size_t array) const {
    return slices_[std::size_t(rank) * shards_ + array];
  }

 private:
  void check_cover(const ArrayView& array, std::size_t i) const {
    std::vector<std::pair<std::size_t, std::size_t>> parts;
    for (std::size_t at = i; at < slices_.size(); at += shards_)
      if (slices_[at].count > 0) parts.emplace_back(slices_[at].begin, slices_[at].count);
    std::ranges::sort(parts);
    std::size_t end = 0;
    bool covered = true;
    for (const auto& [begin, count] : parts) {
      covered = covered && begin == end;
      end = begin + count;
    }
    if (!covered || end != array.count())
      throw Error(
          ErrorCode::usage,
          fmt::format("the ranks' shards of '{}' do not cover it exactly once", array.name));
  }

  std::size_t shards_;
  std::vector<Slice> slices_;  // rank by rank
};

enum class Way { to_root, from_root };

/// Moves each rank's slice of each array between its shard and rank 0's whole array.
void exchange(Communicator& communicator, std::span<const ArrayShard> shards,
              std::span<const ArrayView> wholes, Way way) {
  const Slices slices(communicator, shards);
  const bool root = communicator.rank() == 0;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    const ArrayView& array = shards[i].array;
    for (Rank rank = 0; rank < communicator.size(); ++rank) {
      const Slice slice = slices.of(rank, i);
      if (slice.count == 0 || !(root || communicator.rank() == rank)) continue;
      const std::size_t offset = slice.begin * size_of(array.type);
      void* const here = root ? static_cast<std::byte*>(wholes[i].data) + offset : array.data;
      const Buffer elements(here, slice.count, array.type);
      if (rank == 0)
        way == Way::to_root ? std::memcpy(here, array.data, elements.bytes())
                            : std::memcpy(array.data, here, elements.bytes());
      else if (root == (way == Way::to_root))
        communicator.receive(elements, root ? rank : 0);
      else
        communicator.send(elements, root ? rank : 0);
    }
  }
}

}  // namespace

void gather_shards(Communicator& communicator, std::span<const ArrayShard> shards,
                   std::span<const ArrayView> wholes) {
  exchange(communicator, shards, wholes, Way::to_root);
}

void scatter_shards(Communicator& communicator, std::span<const ArrayView> wholes,
                    std::span<const ArrayShard> shards) {
  exchange(communicator, shards, wholes, Way::from_root);
}

}  // namespace rondo::train
