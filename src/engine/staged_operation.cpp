#include "engine/staged_operation.hpp"

#include "engine/tags.hpp"

namespace rondo::engine {

void StagedOperation::start(const Call& call, const Terms& terms, std::uint64_t sequence,
                            device::Event& after, device::Staging& staging,
                            std::span<const Buffer> tensors) {
  StagedSeries::start(call, after, staging, tensors);
  terms_ = terms;
  sequence_ = sequence;
  between().sequence = sequence;
  between().op = call.op;
  between().root = call.root;
  between().asynchronous = kind_ == CallKind::asynchronous ? 1 : 0;
}

bool StagedOperation::may_begin_part(std::uint64_t oldest_pending) const {
  return tags_are_free(sequence_, oldest_pending);
}

void StagedOperation::begin_part(std::size_t, const Call& part) {
  operation_.start(part, terms_, sequence_, programs_);
}

}  // namespace rondo::engine
