#include "collectives/executor.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace rondo::collectives {

namespace {
template <class T>
auto& get(T& container, int index) {
  return container[static_cast<std::size_t>(index)];
}
}  // namespace

void Executor::start(const Program& program, const Operands& operands) {
  program_ = &program;
  operands_ = operands;
  sizes_ = transport::Sizes::checked;
  measure_scratch();
  measure_steps();
  assign_slots();
  const bool needs_partials = !operands_.partials_in_output;
  const std::size_t partial_bytes = operands_.arithmetic.bytes_of(Value::partial);
  partials_ = needs_partials
                  ? partials_memory_.reserve(operands_.output_layout->count() * partial_bytes)
                  : nullptr;
  first_local_ = 0;
}

void Executor::measure_scratch() {
  scratch_begin_.clear();
  std::size_t elements = 0;
  for (const int like : program_->scratch()) {
    scratch_begin_.push_back(elements);
    elements += operands_.output_layout->size(like);
  }
  // A plan keeps either partial or finished values in its scratch blocks, never both.
  const std::size_t bytes = std::max(operands_.arithmetic.bytes_of(Value::partial),
                                     operands_.arithmetic.bytes_of(Value::finished));
  scratch_ = scratch_memory_.reserve(elements * bytes);
  scratch_begin_.push_back(elements);
}

void Executor::measure_steps() {
  const auto size_of_place = [&](const Place& place) {
    if (place.space == Space::scratch)
      return get(scratch_begin_, place.first + place.count) - get(scratch_begin_, place.first);
    const Layout& layout =
        place.space == Space::input ? *operands_.input_layout : *operands_.output_layout;
    return layout.size(place.first, place.count);
  };
  progress_.assign(program_->steps().size(), Progress{});
  unfinished_ = 0;
  for (std::size_t index = 0; index < progress_.size(); ++index) {
    const Step& step = program_->steps()[index];
    Progress& progress = progress_[index];
    const bool has_source = reads_source(step.kind);
    const bool has_target = writes_target(step.kind);
    progress.elements = size_of_place(has_source ? step.source : step.target);
    if (has_source) progress.source_begin = begin_of(step.source);
    if (has_target) progress.target_begin = begin_of(step.target);
    if (progress.elements > 0) ++unfinished_;
  }
}

std::size_t Executor::begin_of(const Place& place) const {
  switch (place.space) {
    case Space::input:
      return operands_.input_layout->offset(place.first);
    case Space::output:
      return operands_.output_layout->offset(place.first);
    case Space::scratch:
      return get(scratch_begin_, place.first);
  }
  return 0;
}

void Executor::assign_slots() {
  const std::vector<Stream>& streams = program_->streams();
  streams_.assign(streams.size(), StreamState{});
  std::size_t bytes = 0;
  for (std::size_t index = 0; index < streams.size(); ++index) {
    if (!streams[index].reduces) continue;
    StreamState& state = streams_[index];
    state.slots_begin = bytes;
    bytes += measure_slots(streams[index], state);
  }
  slots_ = slot_memory_.reserve(bytes);
}

/// A slot holds one piece, or the largest if none is a whole segment; there are as many as pieces,
/// up to a window. Returns the bytes of all.
std::size_t Executor::measure_slots(const Stream& stream, StreamState& state) const {
  const std::size_t segment = segment_elements(Value::partial);
  std::size_t largest = 0;
  std::size_t pieces = 0;
  for (const int step : stream.steps) {
    const std::size_t elements = get(progress_, step).elements;
    largest = std::max(largest, std::min(elements, segment));
    pieces += (elements + segment - 1) / segment;
  }
  state.slot_bytes = round_up(largest * operands_.arithmetic.bytes_of(Value::partial));
  return std::min(pieces, kWindow) * state.slot_bytes;
}

std::size_t Executor::segment_elements(Value value) const {
  return std::max<std::size_t>(1, operands_.segment_bytes / operands_.arithmetic.bytes_of(value));
}

bool Executor::step() {
  progressed_ = false;
  for (std::size_t index = 0; index < streams_.size(); ++index) {
    const Stream& stream = program_->streams()[index];
    complete(stream, streams_[index]);
    issue(stream, streams_[index]);
  }
  run_local_steps();
  return unfinished_ == 0;
}

void Executor::issue(const Stream& stream, StreamState& state) {
  while (state.count < kWindow && state.next < stream.steps.size()) {
    const int index = stream.steps[state.next];
    const Progress& progress = get(progress_, index);
    if (progress.issued == progress.elements)
      ++state.next;
    else if (!issue_piece(stream, state, index))
      return;
  }
}

bool Executor::issue_piece(const Stream& stream, StreamState& state, int index) {
  const Step& step = get(program_->steps(), index);
  Progress& progress = get(progress_, index);
  const std::size_t offset = progress.issued;
  const std::size_t elements =
      std::min(segment_elements(step.value), progress.elements - progress.issued);
  const std::size_t bytes = elements * operands_.arithmetic.bytes_of(step.value);
  const transport::Tag tag = operands_.tag_base + stream.channel;
  const std::size_t position = (state.first + state.count) % kWindow;

  transport::Ticket ticket{};
  if (step.kind == StepKind::receive_reduce) {
    // Lands in a slot, so it needn't wait for anything but the slot.
    ticket = transport_.receive(stream.peer, tag, slot_of(state, position), bytes, sizes_);
  } else {
    if (!ready(index, offset, elements)) return false;
    if (stream.sending)
      ticket = transport_.send(stream.peer, tag,
                               at(step.source, step.value, progress.source_begin + offset), bytes);
    else
      ticket = transport_.receive(stream.peer, tag,
                                  at(step.target, step.value, progress.target_begin + offset),
                                  bytes, sizes_);
  }
  state.flights[position] = {transport::Transfer(ticket), index, offset, elements};
  ++state.count;
  progress.issued += elements;
  progressed_ = true;
  return true;
}

void Executor::complete(const Stream& stream, StreamState& state) {
  while (state.count > 0) {
    Flight& flight = state.flights[state.first];
    if (!flight.transfer.complete(transport_)) return;
    if (!stream.sending && !absorb(state, flight)) return;
    finish_elements(flight.step, flight.elements);
    state.first = (state.first + 1) % kWindow;
    --state.count;
  }
}

/// Reduces what landed in the oldest slot; false while what it reduces with isn't there yet.
bool Executor::absorb(const StreamState& state, const Flight& flight) {
  const Step& step = get(program_->steps(), flight.step);
  if (step.kind != StepKind::receive_reduce) return true;
  if (!ready(flight.step, flight.offset, flight.elements)) return false;
  const Progress& progress = get(progress_, flight.step);
  operands_.arithmetic.combine(
      at(step.source, Value::partial, progress.source_begin + flight.offset),
      slot_of(state, state.first),
      at(step.target, Value::partial, progress.target_begin + flight.offset), flight.elements);
  return true;
}

void Executor::run_local_steps() {
  const std::vector<int>& steps = program_->local_steps();
  for (std::size_t position = first_local_; position < steps.size(); ++position) {
    const int index = steps[position];
    const Progress& progress = get(progress_, index);
    if (progress.done == progress.elements) {
      if (position == first_local_) ++first_local_;
      continue;
    }
    const std::size_t elements = std::min(segment_elements(get(program_->steps(), index).value),
                                          progress.elements - progress.done);
    if (!ready(index, progress.done, elements)) continue;
    run_local_piece(index, progress.done, elements);
    finish_elements(index, elements);
  }
}

void Executor::run_local_piece(int index, std::size_t offset, std::size_t elements) {
  const Step& step = get(program_->steps(), index);
  const Progress& progress = get(progress_, index);
  const std::size_t from = progress.source_begin + offset;
  const std::size_t to = progress.target_begin + offset;
  const Arithmetic& arithmetic = operands_.arithmetic;
  switch (step.kind) {
    case StepKind::reduce: {
      std::byte* target = at(step.target, Value::partial, to);
      arithmetic.combine(target, at(step.source, Value::partial, from), target, elements);
      break;
    }
    case StepKind::finish:
      arithmetic.finish(at(step.source, Value::partial, from), at(step.target, Value::finished, to),
                        elements);
      break;
    case StepKind::copy: {
      const std::byte* source = at(step.source, step.value, from);
      std::byte* target = at(step.target, step.value, to);
      if (step.value == Value::partial && step.source.space == Space::input &&
          operands_.input_value == Value::finished)
        arithmetic.load(source, target, elements);
      else if (source != target)
        std::memcpy(target, source, elements * arithmetic.bytes_of(step.value));
      break;
    }
    case StepKind::send:
    case StepKind::receive:
    case StepKind::receive_reduce:
      break;  // belong to streams
  }
}

bool Executor::ready(int index, std::size_t offset, std::size_t elements) const {
  const Progress& mine = get(progress_, index);
  for (const Dependency& dependency : program_->dependencies(index)) {
    const Progress& earlier = get(progress_, dependency.step);
    const std::size_t begin = (dependency.target ? mine.target_begin : mine.source_begin) + offset;
    const std::size_t earlier_begin =
        dependency.earlier_target ? earlier.target_begin : earlier.source_begin;
    const std::size_t overlap_begin = std::max(begin, earlier_begin);
    const std::size_t overlap_end = std::min(begin + elements, earlier_begin + earlier.elements);
    if (overlap_begin < overlap_end && earlier_begin + earlier.done < overlap_end) return false;
  }
  return true;
}

void Executor::finish_elements(int index, std::size_t elements) {
  Progress& progress = get(progress_, index);
  progress.done += elements;
  progressed_ = true;
  if (progress.done == progress.elements) --unfinished_;
}

/// Where an element of a place lies. Inputs are read as they are, except where the program loads
/// them first.
std::byte* Executor::at(const Place& place, Value value, std::size_t element) const {
  const std::size_t bytes = operands_.arithmetic.bytes_of(value);
  switch (place.space) {
    case Space::input:
      return operands_.input.at(element, operands_.arithmetic.bytes_of(operands_.input_value));
    case Space::output:
      if (value == Value::partial && !operands_.partials_in_output)
        return partials_ + element * bytes;
      return operands_.output.at(element, operands_.arithmetic.bytes_of(Value::finished));
    case Space::scratch:
      return scratch_ + element * bytes;
  }
  return nullptr;
}

std::byte* Executor::slot_of(const StreamState& state, std::size_t position) const {
  return slots_ + state.slots_begin + position * state.slot_bytes;
}

void Executor::cancel() {
  for (StreamState& state : streams_) {
    for (; state.count > 0; --state.count) {
      state.flights[state.first].transfer.cancel(transport_);
      state.first = (state.first + 1) % kWindow;
    }
  }
  unfinished_ = 0;
}

}  // namespace rondo::collectives
