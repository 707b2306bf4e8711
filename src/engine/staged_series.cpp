#include "engine/staged_series.hpp"

namespace rondo::engine {

void StagedSeries::start(const Call& call, device::Event& after, device::Staging& staging,
                         std::span<const Buffer> tensors) {
  call_.cut(call, staging.part_bytes(), tensors);
  after_ = &after;
  staging_ = &staging;
  between_ = {};
  between_.collective = call.collective;
  between_.count = call_.elements();
  between_.type = call_.type();
  between_.on_device = 1;
  stage_ = Stage::waiting;
}

bool StagedSeries::step(std::uint64_t oldest_pending) {
  progressed_ = false;
  while (advance(oldest_pending)) {
    progressed_ = true;
    if (stage_ == Stage::over) return true;
  }
  return false;
}

/// One stage, if it is done.
bool StagedSeries::advance(std::uint64_t oldest_pending) {
  switch (stage_) {
    case Stage::waiting:
      if (!after_->done()) return false;
      staging_->begin(call_);
      stage_ = Stage::coming_down;
      return true;
    case Stage::coming_down:
      return begin_next_part(oldest_pending);
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

bool StagedSeries::begin_next_part(std::uint64_t oldest_pending) {
  if (!may_begin_part(oldest_pending) || !staging_->is_down()) return false;
  const std::size_t index = staging_->next();
  begin_part(index, call_.part(index, staging_->memory()));
  stage_ = Stage::working;
  return true;
}

bool StagedSeries::end_part() {
  if (!step_part()) {
    progressed_ = progressed_ || part_progressed();
    return false;
  }
  staging_->bring_up();
  stage_ = Stage::going_up;
  if (!staging_->has_next()) return true;
  go_to_next_part();
  stage_ = Stage::coming_down;
  return true;
}

void StagedSeries::cancel() {
  const bool begun = stage_ != Stage::waiting && stage_ != Stage::over;
  stage_ = Stage::over;
  if (!begun) return;
  cancel_part();
  staging_->stop();
}

}  // namespace rondo::engine
