#include "engine/peer_operation.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "core/log.hpp"
#include "engine/tags.hpp"

namespace rondo::engine {

using collectives::Collective;

bool PeerOperation::serves(const Call& call, const Terms& terms) {
  if (refused_ || call.collective != Collective::allreduce || call.input.count == 0) return false;
  choice_ = operation_.choose(call, terms);
  return choice_.algorithm->path == collectives::Path::peers;
}

void PeerOperation::start(device::Runtime& runtime, int device, const Call& call,
                          const Terms& terms, std::uint64_t sequence, device::Event& after) {
  if (stream_ == nullptr || &runtime != runtime_ || device != device_) {
    stream_.reset();
    done_ = runtime.make_event(device);
    stream_ = runtime.make_stream(device);
  }
  runtime_ = &runtime;
  device_ = device;
  call_ = call;
  terms_ = terms;
  terms_.per_call_algorithm = {};  // which serves the whole, not its steps
  sequence_ = sequence;
  after_ = &after;
  between_ = {};
  between_.sequence = sequence;
  between_.collective = call.collective;
  between_.count = call.input.count;
  between_.type = call.input.type;
  between_.op = call.op;
  between_.on_device = 1;
  collectives::set_algorithm(between_, algorithm());
  served_ = false;
  result_ = nullptr;
  stage_ = Stage::waiting;
}

bool PeerOperation::step(std::uint64_t oldest_pending) {
  progressed_ = false;
  while (advance(oldest_pending)) {
    progressed_ = true;
    if (stage_ == Stage::over) return true;
  }
  return false;
}

/// One stage, if it is done.
bool PeerOperation::advance(std::uint64_t oldest_pending) {
  switch (stage_) {
    case Stage::waiting:
      if (!after_->done() || !tags_are_free(sequence_ + kOperations - 1, oldest_pending))
        return false;
      offer();
      return true;
    case Stage::working:
      if (!done_->done()) return false;
      stage_ = Stage::ending;
      meet({.collective = Collective::barrier});
      return true;
    case Stage::storing:
      if (!done_->done()) return false;
      stage_ = Stage::over;
      return true;
    case Stage::over:
      return true;
    default:
      return advance_meeting();
  }
}

bool PeerOperation::advance_meeting() {
  if (!operation_.step()) {
    progressed_ = progressed_ || operation_.progressed();
    return false;
  }
  if (stage_ != Stage::ending) between_.sequence = ++sequence_;
  if (stage_ == Stage::offering) {
    take_offers();
  } else if (stage_ == Stage::opening) {
    conclude_opening();
  } else if (result_ != nullptr) {  // no rank reads the input any more
    stream_->copy(output(), result_, call_.output.bytes());
    stream_->record(*done_);
    stage_ = Stage::storing;
  } else {
    stage_ = Stage::over;
  }
  return true;
}

void PeerOperation::meet(Call step) {
  step.step_of = &call_;
  step.served_by = algorithm();
  operation_.start(step, terms_, sequence_, programs_);
}

template <class T>
void PeerOperation::tell_all(std::vector<T>& all, const T& mine) {
  all.resize(static_cast<std::size_t>(transport_.size()));
  T& place = all[static_cast<std::size_t>(transport_.rank())];
  place = mine;
  meet({.collective = Collective::allgather,
        .input = ConstBuffer(&place, sizeof place, DataType::uint8),
        .output = Buffer(all.data(), all.size() * sizeof place, DataType::uint8)});
}

void PeerOperation::offer() {
  stage_ = Stage::offering;
  tell_all(offers_, shared_.offer(*runtime_, device_, call_.input.data, call_.output.data));
}

void PeerOperation::take_offers() {
  const auto unreachable =
      std::find_if(offers_.begin(), offers_.end(), [](const auto& o) { return o.reachable == 0; });
  if (unreachable != offers_.end()) {
    stage_ = Stage::over;
    return;
  }
  if (!peers_.take(*runtime_, offers_)) return work();
  std::uint8_t failed = 0;
  try {
    peers_.open();
  } catch (const Error& error) {
    failed = 1;
    core::log(core::LogLevel::info,
              fmt::format("{}: device memory goes through the host instead", error.message()));
  }
  stage_ = Stage::opening;
  tell_all(failures_, failed);
}

void PeerOperation::conclude_opening() {
  refused_ = std::count(failures_.begin(), failures_.end(), std::uint8_t{0}) != transport_.size();
  if (refused_)
    stage_ = Stage::over;
  else
    work();
}

void PeerOperation::work() {
  if (!std::exchange(logged_, true))
    core::log(core::LogLevel::info, fmt::format("{}: {} ({})", describe(operation_.signature()),
                                                algorithm(), choice_.reason));
  served_ = true;
  if (algorithm() == "device_one_shot")
    reduce_all();
  else
    reduce_slice();
  stream_->record(*done_);
  stage_ = Stage::working;
}

void PeerOperation::reduce_all() {
  const bool in_place = call_.input.data == call_.output.data;
  if (in_place) result_ = room(call_.output.bytes());
  stream_->reduce(fold(), sources(0), in_place ? result_ : output(), call_.input.count);
}

void PeerOperation::reduce_slice() {
  // Slices begin where vectors do.
  constexpr std::size_t kElements = 64;
  const auto ranks = static_cast<std::size_t>(transport_.size());
  const std::size_t element = size_of(call_.input.type);
  const std::size_t step =
      (call_.input.count + ranks * kElements - 1) / (ranks * kElements) * kElements;
  const auto rank = static_cast<std::size_t>(transport_.rank());
  const std::size_t begin = std::min(call_.input.count, rank * step);
  const std::size_t count = std::min(call_.input.count - begin, step);
  if (count == 0) return;
  const std::size_t offset = begin * element;
  stream_->reduce(fold(), sources(offset), output() + offset, count);
  // To the next rank first, so that not all store into one.
  for (int distance = 1; distance < transport_.size(); ++distance) {
    const int peer = (transport_.rank() + distance) % transport_.size();
    stream_->copy(peers_.output_of(peer) + offset, output() + offset, count * element);
  }
}

core::Fold PeerOperation::fold() const {
  return collectives::Arithmetic(call_.input.type, call_.op, transport_.size(), terms_.scale, false)
      .fold();
}

const std::vector<const void*>& PeerOperation::sources(std::size_t offset) {
  sources_.clear();
  for (int rank = 0; rank < transport_.size(); ++rank) {
    const auto* const own = static_cast<const std::byte*>(call_.input.data);
    sources_.push_back((rank == transport_.rank() ? own : peers_.input_of(rank)) + offset);
  }
  return sources_;
}

std::byte* PeerOperation::room(std::size_t bytes) {
  std::vector<device::Memory>& rooms = rooms_[device_];
  if (rooms.empty() || rooms.back().bytes() < bytes) {
    constexpr std::size_t kLeast = std::size_t{256} << 10;
    const std::size_t twice = rooms.empty() ? kLeast : 2 * rooms.back().bytes();
    rooms.emplace_back(*runtime_, device::Location{device::MemoryKind::device, device_},
                       std::max(bytes, twice));
  }
  return rooms.back().data();
}

void PeerOperation::cancel() {
  const bool begun = stage_ != Stage::waiting && stage_ != Stage::over;
  stage_ = Stage::over;
  if (!begun) return;
  operation_.cancel();
  try {
    stream_->synchronize();
  } catch (const Error& error) {
    core::log(core::LogLevel::info, error.what());
  }
}

}  // namespace rondo::engine
