#include "device/staging.hpp"

#include <algorithm>

#include "core/log.hpp"

namespace rondo::device {

Staging::Staging(Runtime& runtime, int device, std::size_t chunk_bytes)
    : runtime_(runtime), device_(device), chunk_bytes_(chunk_bytes) {
  for (Slot& slot : slots_) {
    slot.memory = Memory(runtime, {MemoryKind::pinned, device}, chunk_bytes);
    slot.filled = runtime.make_event(device);
    slot.emptied = runtime.make_event(device);
  }
  down_ = runtime.make_stream(device);
  up_ = runtime.make_stream(device);
}

void Staging::run(const void* input, void* output, std::size_t bytes, const Work& work) {
  const Job job{static_cast<const std::byte*>(input), static_cast<std::byte*>(output), bytes};
  try {
    run(job, work);
  } catch (...) {
    stop();
    throw;
  }
}

void Staging::run(const Job& job, const Work& work) {
  const std::size_t chunks = (job.bytes + chunk_bytes_ - 1) / chunk_bytes_;
  for (std::size_t index = 0; index < chunks; ++index) {
    if (index == 0) bring_down(job, index);
    if (index + 1 < chunks) bring_down(job, index + 1);
    slot(index).filled->synchronize();
    work(chunk(job, index));
    bring_up(job, index);
  }
  up_->synchronize();
}

Staging::Chunk Staging::chunk(const Job& job, std::size_t index) {
  const std::size_t offset = index * chunk_bytes_;
  return {slot(index).memory.data(), offset, std::min(chunk_bytes_, job.bytes - offset)};
}

void Staging::bring_down(const Job& job, std::size_t index) {
  const Chunk to = chunk(job, index);
  down_->wait(*slot(index).emptied);
  down_->copy(to.data, job.input + to.offset, to.bytes);
  down_->record(*slot(index).filled);
}

void Staging::bring_up(const Job& job, std::size_t index) {
  const Chunk from = chunk(job, index);
  up_->copy(job.output + from.offset, from.data, from.bytes);
  up_->record(*slot(index).emptied);
}

/// After a failure: nobody may read or write the caller's memory any more.
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
