#include "engine/preparation.hpp"

#include <cmath>
#include <utility>

#include "collectives/placement.hpp"
#include "core/digest.hpp"

namespace rondo::engine {

using collectives::Arithmetic;
using collectives::Choice;
using collectives::Collective;

Preparation::Preparation(const transport::Transport& transport, CallKind kind)
    : transport_(transport),
      kind_(kind),
      at_this_placement_(request_at(collectives::placement_of(transport, false))) {}

void Preparation::meet_on_node() {
  prepared_call_.reset();
  const collectives::Request before =
      std::exchange(at_this_placement_, request_at(collectives::placement_of(transport_, true)));
  at_this_placement_.tuning = before.tuning;
  at_this_placement_.vendor = before.vendor;
  at_this_placement_.vendor_allowed = before.vendor_allowed;
}

void Preparation::go_by(const collectives::TuningTable* tuning, bool vendor_allowed) {
  prepared_call_.reset();
  at_this_placement_.tuning = tuning;
  at_this_placement_.vendor = transport_.has_vendor() && kind_ == CallKind::blocking;
  at_this_placement_.vendor_allowed = vendor_allowed;
}

void Preparation::prepare(const Call& call, const Terms& terms, std::uint64_t sequence) {
  if (!is_prepared(call, terms)) prepare_anew(call, terms);
  signature_.sequence = sequence;
}

bool Preparation::is_prepared(const Call& call, const Terms& terms) const {
  // Scales of 0 and -0 are equal, but their results differ.
  return prepared_call_ && are_alike(call, *prepared_call_) && terms == prepared_terms_ &&
         std::signbit(terms.scale) == std::signbit(prepared_terms_.scale);
}

void Preparation::prepare_anew(const Call& call, const Terms& terms) {
  prepared_call_.reset();
  check_terms(call, terms, transport_.rank(), transport_.size());
  choice_ = moves_data(call.collective) ? choose(call, terms) : Choice{};
  count_ = is_uneven_all_to_all(call) ? 0 : element_count(call, transport_.size());
  is_step_ = call.step_of != nullptr;
  const DataType type = type_of(call, transport_.rank());
  arithmetic_ = collectives::reduces(call.collective)
                    ? Arithmetic(type, call.op, transport_.size(), terms.scale, terms.narrow)
                    : Arithmetic(type);
  sign(call, terms);
  // The caller's name of an algorithm need not outlive the call.
  if (!terms.per_call_algorithm.empty()) return;
  prepared_call_ = call;
  prepared_terms_ = terms;
}

Choice Preparation::choose(const Call& call, const Terms& terms) const {
  const DataType type = type_of(call, transport_.rank());
  collectives::Request request = at_this_placement_;
  request.collective = call.collective;
  // In an uneven all-to-all each rank has its own total, so it can't decide anything.
  request.bytes = call.collective == Collective::all_to_all
                      ? 0
                      : element_count(call, transport_.size()) * size_of(type);
  // Within a node partial values are never narrow.
  request.hierarchical = request.hierarchical && !terms.narrow;
  request.group = call.by_group;
  request.peers = call.by_peers && request.nodes == 1 && request.ranks > 1;
  request.narrow = terms.narrow;
  request.deterministic = terms.deterministic;
  request.type = type;
  request.op = call.op;
  request.scaled = terms.scale != 1.0;
  request.uneven = !call.input_counts.empty() || !call.output_counts.empty();
  request.per_call = terms.per_call_algorithm;
  request.from_environment = terms.default_algorithm;
  request.segment_bytes = terms.segment_bytes;
  return collectives::select(request);
}

void Preparation::sign(const Call& step, const Terms& terms) {
  const Call& call = is_step_ ? *step.step_of : step;
  signature_ = {};
  signature_.collective = call.collective;
  signature_.details = call.details;
  signature_.on_device = call.on_device ? 1 : 0;
  signature_.asynchronous = kind_ == CallKind::asynchronous ? 1 : 0;
  if (moves_data(call.collective))
    sign_data(call, terms, is_step_ ? step.served_by : choice_.algorithm->name);
  terms_digest_ = digest_of_terms(signature_);
}

void Preparation::sign_data(const Call& call, const Terms& terms, std::string_view algorithm) {
  signature_.count = is_uneven_all_to_all(call) ? 0 : element_count(call, transport_.size());
  signature_.type = type_of(call, transport_.rank());
  signature_.root = call.root;
  signature_.segment_bytes = choice_.segment_bytes;
  collectives::set_algorithm(signature_, algorithm);
  if (!is_uneven_all_to_all(call)) {
    const auto counts = call.input_counts.empty() ? call.output_counts : call.input_counts;
    core::Digest details;
    details.mix(call.details);
    for (const std::size_t block : counts) details.mix(block);
    signature_.details = details.value();
  }
  if (!collectives::reduces(call.collective)) return;
  signature_.op = call.op;
  signature_.scale = terms.scale;
  signature_.narrow = terms.narrow ? 1 : 0;
  signature_.deterministic = terms.deterministic ? 1 : 0;
}

}  // namespace rondo::engine
