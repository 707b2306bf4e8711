#include "engine/staged_operation.hpp"

#include "engine/tags.hpp"

namespace rondo::engine {

void StagedOperation::start(const Call& call, const Terms& terms, std::uint64_t sequence,
                            device::Event& after, device::Staging& staging,
                            std::span<const Buffer> tensors) {
  call_.cut(call, staging.part_bytes(), tensors);
  terms_ = terms;
  sequence_ = sequence;
  after_ = &after;
  staging_ = &staging;
  between_ = {};
  between_.sequence = sequence;
  between_.collective = call.collective;
  between_.count = call_.elements();
  between_.type = call_.type();
  between_.op = call.op;
  between_.root = call.root;
  between_.asynchronous = kind_ == CallKind::asynchronous ? 1 : 0;
  between_.on_device = 1;
  stage_ = Stage::waiting;
}

bool StagedOperation::step(std::uint64_t oldest_pending) {
  progressed_ = false;
  while (advance(oldest_pending)) {
    progressed_ = true;
    if (stage_ == Stage::over) return true;
  }
  return false;
}

/// One stage, if it is done.
bool StagedOperation::advance(std::uint64_t oldest_pending) {
  switch (stage_) {
    case Stage::waiting:
      if (!after_->done()) return false;
      staging_->begin(call_);
      stage_ = Stage::coming_down;
      return true;
    case Stage::coming_down:
      return begin_part(oldest_pending);
    case Stage::working:
      return end_part();
    case Stage::going_up:
      if (!staging_->is_over()) return false;
      stage_ = Stage::over;
      return true;
    case Stage::over:
      return true;
  }
  return true;
}

bool StagedOperation::begin_part(std::uint64_t oldest_pending) {
  if (!tags_are_free(sequence_, oldest_pending) || !staging_->is_down()) return false;
  operation_.start(call_.part(staging_->next(), staging_->memory()), terms_, sequence_, programs_);
  stage_ = Stage::working;
  return true;
}

bool StagedOperation::end_part() {
  if (!operation_.step()) {
    progressed_ = progressed_ || operation_.progressed();
    return false;
  }
  staging_->bring_up();
  stage_ = Stage::going_up;
  if (!staging_->has_next()) return true;
  between_.sequence = ++sequence_;
  stage_ = Stage::coming_down;
  return true;
}

void StagedOperation::cancel() {
  const bool begun = stage_ != Stage::waiting && stage_ != Stage::over;
  stage_ = Stage::over;
  if (!begun) return;
  operation_.cancel();
  staging_->stop();
}

}  // namespace rondo::engine
