#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include <rondo/rondo.hpp>

#include "collectives/block_combiner.hpp"
#include "contender.hpp"
#include "core/copy.hpp"
#include "transport/shm_heap.hpp"

namespace rondo::bench {

namespace {

using collectives::Arithmetic;
using collectives::Target;
using transport::Location;
using transport::MappedSegments;
using transport::SharedHeap;

class LimitContender final : public Contender {
 public:
  explicit LimitContender(Communicator& world) : Contender("limit"), world_(world) {}

  bool supports(const Workload& work) const override {
    return work.collective == Collective::allreduce && world_.nodes() == 1;
  }

  /// Nobody has waited, so peers may still be writing their slices.
  void settle() override { world_.barrier(); }

  std::byte* allocate(std::size_t bytes) override {
    Allocation allocation{.own = SharedBuffer<std::byte>(world_, bytes), .of_ranks = {}};
    const Location mine = SharedHeap::instance().find(allocation.own.data(), bytes);
    std::vector<Location> all(static_cast<std::size_t>(world_.size()));
    world_.allgather(ConstBuffer(&mine, sizeof mine, DataType::uint8),
                     Buffer(all.data(), all.size() * sizeof mine, DataType::uint8));
    for (const Location& location : all) allocation.of_ranks.push_back(mapped_.at(location));
    allocations_.push_back(std::move(allocation));
    return allocations_.back().own.data();
  }

  void run(const Workload& work, std::byte* in, std::byte* out) override {
    const std::size_t line = std::max<std::size_t>(1, 64 / size_of(work.type));
    const std::size_t share = (work.block() / line + 1) * line;
    const std::size_t begin = std::min(work.count, share * static_cast<std::size_t>(work.rank));
    const std::size_t count = std::min(share, work.count - begin);
    const auto offset = begin * size_of(work.type);
    inputs_.clear();
    targets_.clear();
    const bool streams =
        work.bytes() * static_cast<std::size_t>(work.ranks) >= core::last_cache_bytes();
    for (Rank rank = 0; rank < work.ranks; ++rank) {
      inputs_.push_back(of_rank(in, rank) + offset);
      targets_.push_back({of_rank(out, rank) + offset, streams});
    }
    const Arithmetic arithmetic(work.type, work.op, work.ranks, 1.0, false);
    combiner_.combine(arithmetic, inputs_, targets_, count);
  }

  std::string algorithm() const override { return "no waits"; }

 private:
  struct Allocation {
    SharedBuffer<std::byte> own;
    std::vector<std::shared_ptr<std::byte>> of_ranks;  // what keeps them mapped
  };

  /// Where `rank` has what this rank has at `mine`.
  std::byte* of_rank(const std::byte* mine, Rank rank) const {
    for (const Allocation& allocation : allocations_) {
      const auto offset = mine - allocation.own.data();
      if (offset >= 0 && static_cast<std::size_t>(offset) < allocation.own.size())
        return allocation.of_ranks[static_cast<std::size_t>(rank)].get() + offset;
    }
    return nullptr;
  }

  Communicator& world_;
  MappedSegments mapped_;
  std::vector<Allocation> allocations_;
  std::vector<const void*> inputs_;
  std::vector<Target> targets_;
  collectives::BlockCombiner combiner_;
};

}  // namespace

std::unique_ptr<Contender> make_limit(Communicator& world) {
  return std::make_unique<LimitContender>(world);
}

}  // namespace rondo::bench
