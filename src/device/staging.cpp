#include "device/staging.hpp"

#include <algorithm>

#include "core/log.hpp"

namespace rondo::device {

Staging::Staging(Runtime& runtime, int device, std::size_t part_bytes)
    : runtime_(runtime), device_(device), part_bytes_(part_bytes) {
  for (Slot& slot : slots_) {
    slot.memory = Memory(runtime, {MemoryKind::pinned, device}, part_bytes);
    slot.filled = runtime.make_event(device);
    slot.emptied = runtime.make_event(device);
  }
  down_ = runtime.make_stream(device);
  up_ = runtime.make_stream(device);
}

void Staging::begin(const StagedParts& parts) {
  parts_ = &parts;
  next_ = 0;
  for (std::size_t part = 0; part < std::min<std::size_t>(2, parts.parts()); ++part)
    bring_down(part);
}

bool Staging::is_down() { return slot(next_).filled->done(); }

void Staging::bring_down(std::size_t part) {
  Slot& to = slot(part);
  pieces_.clear();
  parts_->list_down(part, pieces_);
  down_->wait(*to.emptied);
  for (const Piece& piece : pieces_)
    down_->copy(to.memory.data() + piece.offset, piece.on_device, piece.bytes);
  down_->record(*to.filled);
}

void Staging::bring_up() {
  Slot& from = slot(next_);
  pieces_.clear();
  parts_->list_up(next_, pieces_);
  for (const Piece& piece : pieces_)
    up_->copy(piece.on_device, from.memory.data() + piece.offset, piece.bytes);
  up_->record(*from.emptied);
  if (next_ + 2 < parts_->parts()) bring_down(next_ + 2);
  ++next_;
}

bool Staging::is_over() { return !has_next() && up_->idle(); }

void Staging::stop() noexcept {
  for (Stream* stream : {down_.get(), up_.get()}) {
    try {
      stream->synchronize();
    } catch (const Error& error) {
      core::log(core::LogLevel::info, error.what());
    }
  }
}

}  // namespace rondo::device
