#include "collectives/node_arrival.hpp"

#include <atomic>
#include <cassert>
#include <cstring>

namespace rondo::collectives {

using transport::Arrival;
using transport::NodeArea;

std::byte* NodeArrival::prepare(std::size_t bytes) {
  assert(bytes <= NodeArea::kPayloadBytes);
  ++count_;
  large_ = bytes > sizeof(Arrival::payload);
  return place(arena_.mine());
}

void NodeArrival::start(const Signature& signature, std::uint64_t terms) {
  static_assert(sizeof(Signature) <= sizeof(NodeArea::signatures[0]));
  NodeArea& area = arena_.mine();
  std::byte* written = area.signatures[entry()].data();
  const bool again = std::exchange(terms_[entry()], terms) == terms;
  std::memcpy(written, &signature, again ? sizeof signature.sequence : sizeof signature);
  area.arrivals[entry()].digest = digest(terms, signature.sequence);
  conflict_.reset();
  next_ = 0;
  arena_.raise(area.arrivals[entry()].count, count_);
}

bool NodeArrival::step() {
  progressed_ = false;
  for (; next_ < arena_.size(); ++next_) {
    if (next_ != arena_.self() && !has_arrived(next_)) return false;
    progressed_ = true;
    compare(next_);
  }
  return true;
}

/// Ranks that call at the same time are a cache line's way apart, which is less than a turn of all
/// that may be under way here.
bool NodeArrival::has_arrived(int node_rank) {
  constexpr int kLooks = 64;
  const std::atomic<std::uint64_t>& count = arena_.of(node_rank).arrivals[entry()].count;
  for (int looks = arena_.crowded() ? 1 : kLooks; looks > 0; --looks)
    if (arena_.has_reached(count, count_)) return true;
  return false;
}

/// With the first rank, so that every rank finds the same.
void NodeArrival::compare(int node_rank) {
  const std::uint64_t expected = arena_.of(0).arrivals[entry()].digest;
  if (arena_.of(node_rank).arrivals[entry()].digest == expected || conflict_) return;
  conflict_ = {.rank = ranks_.front(),
               .other_rank = ranks_[static_cast<std::size_t>(node_rank)],
               .signature = signature_of(0),
               .other_signature = signature_of(node_rank)};
}

Signature NodeArrival::signature_of(int node_rank) const {
  Signature signature;
  std::memcpy(&signature, arena_.of(node_rank).signatures[entry()].data(), sizeof signature);
  return signature;
}

/// A peer's next entry stays as it is until this rank arrives there, too.
std::optional<Begun> NodeArrival::begun_by_another(std::uint64_t sequence) const {
  const std::uint64_t next = count_ + 1;
  const auto entry = static_cast<std::size_t>(next % 2);
  for (int peer = 0; peer < arena_.size(); ++peer) {
    const NodeArea& area = arena_.of(peer);
    if (area.arrivals[entry].count.load(std::memory_order_acquire) != next) continue;
    Begun begun{.rank = ranks_[static_cast<std::size_t>(peer)], .signature = {}};
    std::memcpy(&begun.signature, area.signatures[entry].data(), sizeof begun.signature);
    if (begun.signature.sequence == sequence) return begun;
  }
  return std::nullopt;
}

}  // namespace rondo::collectives
