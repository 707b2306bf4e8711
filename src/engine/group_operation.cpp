#include "engine/group_operation.hpp"

#include <utility>

#include "device/runtime.hpp"
#include "engine/tags.hpp"

namespace rondo::engine {

using collectives::Collective;
using device::GroupCall;

namespace {

GroupCall::Kind kind_of(Collective collective) {
  using enum GroupCall::Kind;
  switch (collective) {
    case Collective::reduce:
      return reduce;
    case Collective::broadcast:
      return broadcast;
    case Collective::reduce_scatter:
      return reduce_scatter;
    case Collective::allgather:
      return allgather;
    case Collective::all_to_all:
      return all_to_all;
    case Collective::gather:
      return gather;
    case Collective::scatter:
      return scatter;
    default:
      return allreduce;
  }
}

/// Of the message, or of a block where each rank has one.
std::size_t count_of(const Call& call, std::size_t elements, std::size_t ranks) {
  switch (call.collective) {
    case Collective::allreduce:
    case Collective::reduce:
    case Collective::broadcast:
      return elements;
    default:
      return elements / ranks;
  }
}

}  // namespace

void GroupOperation::join(std::unique_ptr<device::Group> group, int device,
                          const collectives::Signature& signature) {
  group_ = std::move(group);
  device_ = device;
  signature_ = signature;
  stage_ = Stage::joining;
}

void GroupOperation::start(const Call& call, const Terms& terms, std::uint64_t sequence,
                           device::Event& after) {
  terms_ = terms;
  agreed_call_ = call;
  signature_ = {};
  signature_.sequence = sequence;
  signature_.collective = call.collective;
  signature_.on_device = 1;
  after_ = &after;
  stage_ = Stage::waiting;
}

bool GroupOperation::step(std::uint64_t oldest_pending) {
  while (stage_ != Stage::over)
    if (!advance(oldest_pending)) return false;
  return true;
}

/// One stage, if it is done.
bool GroupOperation::advance(std::uint64_t oldest_pending) {
  switch (stage_) {
    case Stage::joining:
      if (!group_->joined()) return false;
      stage_ = Stage::over;
      return true;
    case Stage::waiting:
      if (!tags_are_free(signature_.sequence, oldest_pending) || !after_->done()) return false;
      operation_.start(agreed_call_, terms_, signature_.sequence, programs_);
      signature_ = operation_.signature();
      stage_ = Stage::agreeing;
      return true;
    case Stage::agreeing:
      if (!operation_.step()) return false;
      stage_ = Stage::moving;
      group_->start(group_call(), *after_);
      return true;
    case Stage::moving:
      if (!group_->step()) return false;
      stage_ = Stage::over;
      return true;
    case Stage::over:
      return true;
  }
  return true;
}

device::GroupCall GroupOperation::group_call() const {
  const Call& call = agreed_call_;
  const bool one_buffer = call.collective == Collective::broadcast;
  return {.kind = kind_of(call.collective),
          .input = one_buffer ? call.output.data : call.input.data,
          .output = call.output.data,
          .count = count_of(call, signature_.count, ranks_),
          .type = signature_.type,
          .op = call.op,
          .root = call.root};
}

void GroupOperation::cancel() {
  const Stage stage = std::exchange(stage_, Stage::over);
  if (stage == Stage::agreeing) operation_.cancel();
  if (stage == Stage::joining || stage == Stage::moving) group_->abort();
}

}  // namespace rondo::engine
