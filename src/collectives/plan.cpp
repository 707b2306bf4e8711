#include "collectives/plan.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <numeric>

#include <fmt/core.h>

namespace rondo::collectives {

namespace {
std::string text_of(const Place& place) {
  constexpr std::array kSpaces{"input", "output", "scratch"};
  const char* space = kSpaces[static_cast<std::size_t>(place.space)];
  if (place.count == 1) return fmt::format("{}[{}]", space, place.first);
  return fmt::format("{}[{}…{}]", space, place.first, place.first + place.count - 1);
}
}  // namespace

std::string describe(const Step& step) {
  const char* value = step.value == Value::partial ? "partial" : "finished";
  const std::string source = text_of(step.source);
  const std::string target = text_of(step.target);
  switch (step.kind) {
    case StepKind::send:
      return fmt::format("send {} {} to rank {}", value, source, step.peer);
    case StepKind::receive:
      return fmt::format("receive {} {} from rank {}", value, target, step.peer);
    case StepKind::receive_reduce:
      return fmt::format("reduce {} with what rank {} sends into {}", source, step.peer, target);
    case StepKind::copy:
      return fmt::format("copy {} {} to {}", value, source, target);
    case StepKind::reduce:
      return fmt::format("reduce {} into {}", source, target);
    case StepKind::finish:
      return fmt::format("finish {} in {}", source, target);
  }
  return "";
}

Plan::Plan(Rank rank, int size, int blocks)
    : rank_(rank), size_(size), blocks_(blocks), state_(blocks, State::input) {}

void Plan::send(Outgoing out, Action action, int channel) {
  const Value value = action == Action::reduce ? Value::partial : Value::finished;
  if (value == Value::finished) finish_if_partial(out.first, out.count);
  add({.kind = StepKind::send,
       .value = value,
       .channel = static_cast<std::uint8_t>(channel),
       .peer = out.to,
       .source = current(out.first, out.count)});
}

void Plan::receive(Incoming in, Action action, int channel) {
  Step step{.kind = StepKind::receive,
            .value = Value::finished,
            .channel = static_cast<std::uint8_t>(channel),
            .peer = in.from,
            .target = {Space::output, in.first, in.count}};
  if (action == Action::reduce) {
    step.kind = StepKind::receive_reduce;
    step.value = Value::partial;
    step.source = current(in.first, in.count);
  }
  add(step);
}

void Plan::exchange(Outgoing out, Incoming in, Action action, int channel) {
  send(out, action, channel);
  receive(in, action, channel);
}

void Plan::copy_input(int first, int count) {
  add({.kind = StepKind::copy,
       .value = Value::finished,
       .source = {Space::input, first, count},
       .target = {Space::output, first, count}});
}

int Plan::add_scratch(int like) {
  assert(like >= 0 && like < blocks_);
  scratch_.push_back(like);
  return static_cast<int>(scratch_.size()) - 1;
}

std::vector<int> Plan::layout_blocks(const Place& place) const {
  std::vector<int> blocks(static_cast<std::size_t>(place.count));
  std::iota(blocks.begin(), blocks.end(), place.first);
  if (place.space == Space::scratch)
    for (int& block : blocks) block = scratch_[static_cast<std::size_t>(block)];
  return blocks;
}

void Plan::add(const Step& step) {
  assert(step.channel < kChannels);
  steps_.push_back(step);
  if (step.kind == StepKind::send || step.target.space != Space::output) return;
  const State state = step.value == Value::partial ? State::partial : State::finished;
  std::fill_n(state_.begin() + step.target.first, step.target.count, state);
}

void Plan::complete(int first, int count) {
  const int end = first + count;
  while (first < end) {
    int next = first + 1;
    while (next < end && state_[next] == state_[first]) ++next;
    if (state_[first] != State::finished) finish(first, next - first);
    first = next;
  }
}

void Plan::finish_if_partial(int first, int count) {
  if (state_[first] == State::partial) finish(first, count);
}

void Plan::finish(int first, int count) {
  add({.kind = StepKind::finish,
       .value = Value::finished,
       .source = current(first, count),
       .target = {Space::output, first, count}});
}

/// A step has one source, so all its blocks must be in the same state.
Place Plan::current(int first, int count) const {
  assert(first >= 0 && count > 0 && first + count <= blocks_);
  [[maybe_unused]] const auto begin = state_.begin() + first;
  assert(std::all_of(begin, begin + count, [&](State s) { return s == *begin; }));
  return {state_[first] == State::input ? Space::input : Space::output, first, count};
}

}  // namespace rondo::collectives
