#include "engine/launches.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "core/log.hpp"
#include "core/trace.hpp"
#include "engine/tags.hpp"

namespace rondo::engine {

void Launches::get_ready(device::Runtime& devices, int device, std::size_t part_bytes) {
  part_bytes_ = part_bytes;
  for (Slot& slot : slots_) slot.stagings.on(devices, device, part_bytes);
}

void Launches::add(Launch& launch) {
  if (launch.kind != Launch::Kind::collective) return messages_.add(launch);
  if (memory_ == Memory::none) open();
  Slot& slot = slots_[added_++ % kSlots];
  (slot.first == nullptr ? slot.first : slot.last->next) = &launch;
  slot.last = &launch;
  ++pending_;
}

void Launches::open() {
  for (Slot& slot : slots_) {
    slot.operation = std::make_unique<Operation>(transport_, CallKind::asynchronous);
    slot.operation->go_by(tuning_, false);
    slot.staged = std::make_unique<StagedOperation>(*slot.operation, CallKind::asynchronous,
                                                    programs_, transport_);
    slot.uneven = std::make_unique<UnevenAllToAll>(*slot.operation, programs_, transport_);
  }
  if (arena_ != nullptr) claim_memory();
  memory_ = Memory::claimed;
}

void Launches::claim_memory() {
  try {
    arena_->claim_more();
  } catch (const Error& error) {
    core::log(core::LogLevel::warning,
              fmt::format("{}: asynchronous operations send messages within a node instead, which "
                          "is slower",
                          error.message()));
  }
}

/// The ranks of a node meet in arenas of the slots' own, unless one of them lacks the memory.
bool Launches::settle_memory() {
  if (memory_ == Memory::settled) return true;
  if (arena_ != nullptr) {
    const std::optional<bool> all_have = arena_->all_have_more();
    if (!all_have) return false;
    if (*all_have)
      for (int slot = 0; slot < kSlots; ++slot) {
        Slot& settled = slots_[static_cast<std::size_t>(slot)];
        settled.node = std::make_unique<Node>(arena_->more(slot), transport_);
        settled.operation->meet_at(*settled.node);
      }
  }
  memory_ = Memory::settled;
  return true;
}

std::uint64_t Launches::oldest() const {
  std::uint64_t oldest = kNone;
  for (const Slot& slot : slots_)
    if (slot.first != nullptr) oldest = std::min(oldest, slot.first->sequence);
  return oldest;
}

std::uint64_t Launches::newest() const {
  std::uint64_t newest = 0;
  for (const Slot& slot : slots_)
    if (slot.first != nullptr) newest = std::max(newest, slot.last->sequence);
  return newest;
}

bool Launches::step() {
  stepped_ = kNone;
  bool moved = messages_.step();
  if (oldest() == kNone || !settle_memory()) return moved;
  for (Slot& slot : slots_) {
    while (slot.first != nullptr) {
      stepped_ = slot.first->sequence;
      if (!slot.running) {
        if (!tags_are_free(slot.first->sequence, oldest())) {
          slot.first->deadline.start.reset();  // the oldest one's time passes
          break;
        }
        begin(slot);
        moved = true;
      }
      if (!step(slot)) {
        moved |= slot.series ? slot.series->progressed() : slot.operation->progressed();
        break;
      }
      end(slot);
      moved = true;
    }
  }
  return moved;
}

void Launches::begin(Slot& slot) {
  Launch& launch = *slot.first;
  slot.running = true;
  if (core::tracing()) slot.began = Deadline::Clock::now();
  slot.series = nullptr;
  if (launch.on_device) {
    slot.series = slot.staged.get();
    const auto& [devices, device, after, gate] = *launch.on_device;
    slot.staged->start(launch.call, launch.terms, launch.sequence, *after,
                       slot.stagings.on(*devices, device, part_bytes_));
  } else if (is_uneven_all_to_all(launch.call)) {
    slot.series = slot.uneven.get();
    slot.uneven->start(launch.call, launch.terms, launch.sequence);
  } else {
    slot.operation->start(launch.call, launch.terms, launch.sequence, programs_);
  }
}

bool Launches::step(Slot& slot) {
  if (!slot.series) return slot.operation->step();
  const bool done = slot.series->step(oldest());
  slot.first->sequence = slot.series->sequence();
  // The time of what comes before on the device isn't its own.
  if (slot.series->waits_for_device()) slot.first->deadline.start.reset();
  return done;
}

void Launches::end(Slot& slot) {
  Launch& launch = *slot.first;
  launch.algorithm = slot.operation->algorithm();
  launch.over_at = Deadline::Clock::now();
  slot.running = false;
  if (core::tracing()) trace(slot);
  slot.first = launch.next;  // its Request may give it back at once
  if (slot.first != nullptr) slot.first->deadline.start.reset();  // it begins to wait now
  --pending_;
  finish(launch, Launch::State::done);
}

/// The stream that waits for it goes on; then it isn't ours any more.
void Launches::finish(Launch& launch, Launch::State state) noexcept {
  LaunchPool* const owner = launch.owner;
  launch.on_device.reset();
  launch.state.store(state, std::memory_order_release);
  if (owner != nullptr) owner->give_back(launch);
}

void Launches::trace(const Slot& slot) const {
  static_assert(kSlots == 2);
  const Launch& launch = *slot.first;
  core::trace({.name = name_of(launch.call.collective),
               .track = &slot == slots_.data() ? core::Track::pending_0 : core::Track::pending_1,
               .start = slot.began,
               .end = launch.over_at,
               .bytes = std::max(launch.call.input.bytes(), launch.call.output.bytes())});
}

collectives::Signature Launches::signature_of(const Launch& launch) const {
  for (const Slot& slot : slots_)
    if (slot.running && slot.first == &launch)
      return slot.series ? slot.series->signature() : slot.operation->signature();
  collectives::Signature signature;
  signature.sequence = launch.sequence;
  signature.collective = launch.call.collective;
  signature.count = element_count(launch.call, transport_.size());
  signature.type = type_of(launch.call, transport_.rank());
  signature.op = launch.call.op;
  signature.root = launch.call.root;
  signature.asynchronous = 1;
  return signature;
}

std::optional<collectives::Begun> Launches::begun_by_another(std::uint64_t sequence) const {
  for (const Slot& slot : slots_)
    if (slot.node)
      if (auto begun = slot.node->begun_by_another(sequence)) return begun;
  return std::nullopt;
}

bool Launches::wait_in_memory() const {
  return messages_.empty() && std::all_of(slots_.begin(), slots_.end(), [](const Slot& slot) {
           if (slot.first == nullptr) return true;
           return slot.running && (slot.series ? slot.series->waits_in_memory()
                                               : slot.operation->waits_in_memory());
         });
}

void Launches::open_gates_from(std::uint64_t sequence) noexcept {
  for (Slot& slot : slots_)
    for (Launch* launch = slot.first; launch != nullptr; launch = launch->next)
      if (launch->sequence >= sequence && launch->on_device) launch->on_device->gate.reset();
}

void Launches::cancel_from(std::uint64_t sequence) {
  messages_.cancel();
  for (Slot& slot : slots_) {
    if (slot.first == nullptr || slot.first->sequence < sequence) continue;
    if (slot.running && slot.series) slot.series->cancel();
    slot.operation->cancel();
    slot.running = false;
  }
}

void Launches::fail_from(std::uint64_t sequence, const Error& error) noexcept {
  messages_.fail(error);
  int enqueued = 0;  // without Requests that would say it
  for (Slot& slot : slots_) {
    Launch** link = &slot.first;
    slot.last = nullptr;
    while (*link != nullptr && (*link)->sequence < sequence) {
      slot.last = *link;
      link = &slot.last->next;
    }
    for (Launch* launch = std::exchange(*link, nullptr); launch != nullptr; --pending_) {
      Launch* next = launch->next;  // its Request may give it back at once
      launch->error = error;
      if (launch->owner != nullptr) ++enqueued;
      finish(*launch, Launch::State::failed);
      launch = next;
    }
  }
  if (enqueued > 0)
    core::log(
        core::LogLevel::error,
        fmt::format("{} enqueued in a stream failed: {}",
                    enqueued == 1 ? "a call" : fmt::format("{} calls", enqueued), error.what()));
}

}  // namespace rondo::engine
