#include "device/peer_memory.hpp"

#include <algorithm>
#include <bit>

namespace rondo::device {

namespace {

/// In a list of anything with such a member.
template <class List>
auto find(List& list, std::uint64_t number) {
  return std::find_if(list.begin(), list.end(), [&](const auto& entry) {
    if constexpr (requires { entry.allocation; })
      return entry.allocation.number == number;
    else
      return entry.number == number;
  });
}

}  // namespace

PeerBuffers SharedAllocations::offer(Runtime& runtime, int device, const void* input,
                                     const void* output) {
  const auto is_gone = [&](const SharedAllocation& allocation) {
    const auto* const begin = std::bit_cast<const void*>(allocation.address);
    return runtime.allocation_at(begin) != allocation.number;
  };
  if (std::any_of(known_.begin(), known_.end(), is_gone)) begin_era();
  PeerBuffers buffers;
  buffers.device = device;
  const bool reachable = add(runtime, input, buffers.input) && add(runtime, output, buffers.output);
  if (known_.size() > kMost) {
    begin_era();
    add(runtime, input, buffers.input);
    add(runtime, output, buffers.output);
  }
  buffers.reachable = reachable ? 1 : 0;
  buffers.era = era_;
  return buffers;
}

bool SharedAllocations::add(Runtime& runtime, const void* buffer, SharedAddress& place) {
  if (buffer == nullptr) return true;
  const auto known = find(known_, runtime.allocation_at(buffer));
  if (known != known_.end()) {
    place = {*known, reinterpret_cast<std::uintptr_t>(buffer) - known->address};
    return true;
  }
  const std::optional<SharedAddress> shared = runtime.share(buffer);
  if (!shared) return false;
  place = *shared;
  known_.push_back(place.allocation);
  return true;
}

void SharedAllocations::begin_era() {
  known_.clear();
  ++era_;
}

PeerMemory::~PeerMemory() {
  for (Peer& peer : peers_) retire(peer);
  close_past();
}

bool PeerMemory::take(Runtime& runtime, std::span<const PeerBuffers> offers) {
  const auto on_same_device = [](const PeerBuffers& a, const PeerBuffers& b) {
    return a.device == b.device;
  };
  if (&runtime != runtime_ || !std::ranges::equal(offers, offers_, on_same_device))
    for (Peer& peer : peers_) retire(peer);
  runtime_ = &runtime;
  offers_.assign(offers.begin(), offers.end());
  peers_.resize(offers.size());
  bool is_new = false;
  for (std::size_t rank = 0; rank < offers.size(); ++rank) {
    Peer& peer = peers_[rank];
    if (peer.era != offers[rank].era) retire(peer);
    peer.era = offers[rank].era;
    for (const SharedAddress* buffer : {&offers[rank].input, &offers[rank].output})
      is_new |= add(peer, buffer->allocation);
  }
  return is_new;
}

bool PeerMemory::add(Peer& peer, const SharedAllocation& allocation) {
  if (allocation.number == 0 || find(peer.opened, allocation.number) != peer.opened.end())
    return false;
  peer.opened.push_back({allocation, runtime_, offers_[rank_].device, nullptr});
  return true;
}

void PeerMemory::retire(Peer& peer) {
  for (const Opened& opened : peer.opened)
    if (opened.memory != nullptr) past_.push_back(opened);
  peer.opened.clear();
}

void PeerMemory::open() {
  for (std::size_t rank = 0; rank < peers_.size(); ++rank) {
    if (rank == rank_) continue;
    for (Opened& opened : peers_[rank].opened)
      if (opened.memory == nullptr)
        opened.memory = runtime_->open(opened.allocation, opened.device);
  }
}

void PeerMemory::close_past() noexcept {
  for (const Opened& opened : past_)
    opened.runtime->close(opened.allocation, opened.device, opened.memory);
  past_.clear();
}

std::byte* PeerMemory::at(int rank, const SharedAddress& address) const {
  if (address.allocation.number == 0) return nullptr;
  const auto opened = find(peers_[index(rank)].opened, address.allocation.number);
  return static_cast<std::byte*>(opened->memory) + address.offset;
}

}  // namespace rondo::device
