#include "transport/node_arena.hpp"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bit>
#include <ctime>
#include <new>
#include <type_traits>

#include <fmt/core.h>

#include <rondo/error.hpp>

namespace rondo::transport {

static_assert(std::is_trivially_copyable_v<NodeArena::Offer>, "an offer travels as it is");

namespace {

NodeArea* area_in(const SharedSegment& segment, int index) {
  const std::size_t offset = static_cast<std::size_t>(index) * sizeof(NodeArea);
  return std::launder(reinterpret_cast<NodeArea*>(segment.data() + offset));
}

/// Its results don't matter: all that happens is that a rank wakes too early or too late.
void futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
           const timespec* timeout) {
  static_assert(sizeof word == sizeof(std::uint32_t));
  syscall(SYS_futex, &word, operation, value, timeout, nullptr, 0);
}

}  // namespace

NodeArena::NodeArena()
    : own_(SharedSegment::create(sizeof(NodeArea), kMoreAreas * sizeof(NodeArea))) {
  new (own_->data()) NodeArea;
}

NodeArena::Offer NodeArena::offer() const {
  Offer offer{.area = own_->name()};
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
  find_areas(0);
}

void NodeArena::find_areas(int index) {
  areas_.clear();
  others_bells_.clear();
  for (const auto& segment : segments_) {
    areas_.push_back(area_in(*segment, index));
    if (segment != segments_[static_cast<std::size_t>(self_)])
      others_bells_.push_back(&area_in(*segment, 0)->bell);
  }
}

// ── Sleeping

void NodeArena::sleep() {
  std::atomic<std::uint32_t>& awaited = area_in(*own_, 0)->bell.awaited;
  if (awaited.exchange(1) == 0) return;
  constexpr timespec kMost{.tv_sec = 0, .tv_nsec = 1'000'000};
  futex(awaited, FUTEX_WAIT, 1, &kMost);
  awaited.store(0, std::memory_order_relaxed);
}

void NodeArena::ring(Bell& bell) {
  if (bell.awaited.exchange(0) == 1) futex(bell.awaited, FUTEX_WAKE, 1, nullptr);
}

void NodeArena::claim_more() {
  std::atomic<std::uint64_t>& told = area_in(*own_, 0)->more.value;
  if (told.load(std::memory_order_relaxed) != 0) return;
  try {
    own_->commit_later();
  } catch (const Error&) {
    told.store(NodeArea::kRefused, std::memory_order_release);
    throw;
  }
  for (int index = 1; index <= kMoreAreas; ++index)
    new (own_->data() + static_cast<std::size_t>(index) * sizeof(NodeArea)) NodeArea;
  told.store(NodeArea::kCommitted, std::memory_order_release);
}

std::optional<bool> NodeArena::all_have_more() {
  bool all = true;
  for (NodeArea* area : areas_) {
    if (!has_reached(area->more.value, NodeArea::kRefused)) return std::nullopt;
    all = all && area->more.value.load(std::memory_order_acquire) == NodeArea::kCommitted;
  }
  return all;
}

std::unique_ptr<NodeArena> NodeArena::more(int index) const {
  std::unique_ptr<NodeArena> arena(new NodeArena(Further{}));
  arena->own_ = own_;
  arena->segments_ = segments_;
  arena->self_ = self_;
  arena->crowded_ = crowded_;
  arena->find_areas(index + 1);
  if (late_) arena->delay(delay_seed_ + 1 + static_cast<std::uint64_t>(index));
  return arena;
}

}  // namespace rondo::transport
