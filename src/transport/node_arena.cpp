#include "transport/node_arena.hpp"

#include <sched.h>

#include <bit>
#include <new>
#include <type_traits>

#include <fmt/core.h>

#include <rondo/error.hpp>

namespace rondo::transport {

static_assert(std::is_trivially_copyable_v<NodeArena::Offer>, "an offer travels as it is");

NodeArena::NodeArena() : segments_{SharedSegment::create(sizeof(NodeArea))} {
  new (segments_.front()->data()) NodeArea;
}

NodeArena::Offer NodeArena::offer() const {
  Offer offer{.area = segments_.front()->name()};
  cpu_set_t processors;
  CPU_ZERO(&processors);
  if (sched_getaffinity(0, sizeof processors, &processors) != 0) return offer;
  for (std::size_t processor = 0; processor < 64 * offer.processors.size(); ++processor)
    if (CPU_ISSET(processor, &processors))
      offer.processors[processor / 64] |= std::uint64_t{1} << (processor % 64);
  return offer;
}

void NodeArena::join(std::span<const Offer> offers, int self) {
  if (offers.size() > kMostRanks)
    throw Error(ErrorCode::system,
                fmt::format("{} ranks are on one node, and at most {} can share memory",
                            offers.size(), kMostRanks));
  self_ = self;
  std::vector<std::shared_ptr<SharedSegment>> segments;
  std::array<std::uint64_t, 16> processors{};
  for (const Offer& offer : offers) {
    segments.push_back(SharedSegment::open(offer.area));
    for (std::size_t word = 0; word < processors.size(); ++word)
      processors[word] |= offer.processors[word];
  }
  int available = 0;
  for (const std::uint64_t word : processors) available += std::popcount(word);
  crowded_ = available < static_cast<int>(offers.size());
  segments_ = std::move(segments);
  areas_.clear();
  for (const auto& segment : segments_)
    areas_.push_back(std::launder(reinterpret_cast<NodeArea*>(segment->data())));
}

}  // namespace rondo::transport
