#include "engine/operation.hpp"

#include <fmt/core.h>

#include "core/digest.hpp"
#include "core/log.hpp"
#include "engine/tags.hpp"

namespace rondo::engine {

using collectives::Arithmetic;
using collectives::Choice;
using collectives::Collective;
using collectives::Window;

namespace {

using Clock = std::chrono::steady_clock;

/// How long an operation in trouble waits for the agreement to tell every rank the reason.
constexpr std::chrono::seconds kPatience{1};

Arithmetic arithmetic_of(const Call& call, const Terms& terms, DataType type, int size) {
  if (!collectives::reduces(call.collective)) return Arithmetic(type);
  return Arithmetic(type, call.op, size, call.scale, terms.narrow);
}

std::byte* bytes(const void* data) {
  return const_cast<std::byte*>(static_cast<const std::byte*>(data));
}

}  // namespace

void Operation::start(const Call& call, const Terms& terms, std::uint64_t sequence,
                      ProgramCache& programs) {
  const std::size_t count = element_count(call, transport_.size());
  has_data_ = false;
  data_error_.reset();
  trouble_since_.reset();
  Choice choice;
  if (call.collective != Collective::barrier)
    choice = choose(call, terms, count * size_of(type_of(call, transport_.rank())));
  sign(call, terms, choice, sequence);
  const transport::Tag tag = tag_base(sequence);
  agreement_.start(signature_, tag + kAgreementChannel);
  const bool moves_data = count > 0 || !call.output_counts.empty();
  if (call.collective != Collective::barrier && moves_data)
    start_data(call, terms, choice, programs);
}

Choice Operation::choose(const Call& call, const Terms& terms, std::size_t message_bytes) const {
  collectives::Request request;
  request.collective = call.collective;
  // In an uneven all-to-all each rank has its own total, so it can't decide anything.
  request.bytes = call.collective == Collective::all_to_all ? 0 : message_bytes;
  request.deterministic = terms.deterministic;
  request.per_call = terms.per_call_algorithm;
  request.from_environment = terms.default_algorithm;
  request.segment_bytes = terms.segment_bytes;
  return collectives::select(request);
}

void Operation::sign(const Call& call, const Terms& terms, const Choice& choice,
                     std::uint64_t sequence) {
  signature_ = {};
  signature_.sequence = sequence;
  signature_.collective = call.collective;
  signature_.details = call.details;
  if (call.collective == Collective::barrier) return;
  const bool uneven_all_to_all =
      call.collective == Collective::all_to_all && !call.input_counts.empty();
  signature_.count = uneven_all_to_all ? 0 : element_count(call, transport_.size());
  signature_.type = type_of(call, transport_.rank());
  signature_.root = call.root;
  signature_.segment_bytes = choice.segment_bytes;
  collectives::set_algorithm(signature_, choice.algorithm->name);
  if (!uneven_all_to_all) {
    const auto counts = call.input_counts.empty() ? call.output_counts : call.input_counts;
    core::Digest details;
    details.add(call.details);
    for (const std::size_t block : counts) details.add(std::uint64_t{block});
    signature_.details = details.value();
  }
  if (!collectives::reduces(call.collective)) return;
  signature_.op = call.op;
  signature_.scale = call.scale;
  signature_.narrow = terms.narrow ? 1 : 0;
  signature_.deterministic = terms.deterministic ? 1 : 0;
}

void Operation::start_data(const Call& call, const Terms& terms, const Choice& choice,
                           ProgramCache& programs) {
  const DataType type = type_of(call, transport_.rank());
  collectives::Operands operands;
  operands.arithmetic = arithmetic_of(call, terms, type, transport_.size());
  bool is_new = false;
  const bool load = collectives::reduces(call.collective) && operands.arithmetic.must_load();
  const collectives::Program& program = programs.get(*choice.algorithm, call.root, load, is_new);
  if (is_new)
    core::log(core::LogLevel::info, fmt::format("{}: {} ({})", collectives::describe(signature_),
                                                choice.algorithm->name, choice.reason));
  set_layouts(call, program.blocks());

  operands.input = {bytes(call.input.data), 0};
  operands.output = output_window(call);
  if (call.collective == Collective::allgather || call.collective == Collective::gather)
    operands.input.origin = input_layout_.offset(transport_.rank());
  operands.input_layout = &input_layout_;
  operands.output_layout = &output_layout_;
  const bool has_whole_output =
      call.collective == Collective::allreduce ||
      (call.collective == Collective::reduce && call.root == transport_.rank());
  operands.partials_in_output = !collectives::reduces(call.collective) ||
                                (has_whole_output && operands.arithmetic.partial_is_element());
  operands.segment_bytes = choice.segment_bytes;
  operands.tag_base = tag_base(signature_.sequence);
  executor_.start(program, operands);
  has_data_ = true;
}

void Operation::set_layouts(const Call& call, int blocks) {
  const auto set = [&](collectives::Layout& layout, std::span<const std::size_t> counts,
                       std::size_t uniform) {
    if (counts.empty())
      layout.set_uniform(uniform, transport_.size());
    else
      layout.set_uneven(counts);
  };
  const auto ranks = static_cast<std::size_t>(transport_.size());
  switch (call.collective) {
    case Collective::reduce_scatter:
      set(output_layout_, call.input_counts, call.output.count);
      break;
    case Collective::allgather:
      set(output_layout_, call.output_counts, call.input.count);
      break;
    case Collective::gather:
      set(output_layout_, {}, call.input.count);
      break;
    case Collective::scatter:
      set(output_layout_, {}, call.output.count);
      break;
    case Collective::all_to_all:
      set(input_layout_, call.input_counts, call.input.count / ranks);
      set(output_layout_, call.output_counts, call.output.count / ranks);
      return;
    default:
      output_layout_.set_even(element_count(call, transport_.size()), blocks);
      break;
  }
  input_layout_ = output_layout_;
}

Window Operation::output_window(const Call& call) const {
  Window window{bytes(call.output.data), 0};
  if (call.collective == Collective::reduce_scatter || call.collective == Collective::scatter)
    window.origin = output_layout_.offset(transport_.rank());
  return window;
}

bool Operation::step() {
  const bool agreed = agreement_.step();
  const bool moved = step_data();
  const bool trouble = agreement_.conflict().has_value() || data_error_.has_value();
  if (!trouble) return agreed && moved;
  if (!trouble_since_) trouble_since_ = Clock::now();
  if (!agreed && Clock::now() - *trouble_since_ < kPatience) return false;
  if (agreement_.conflict()) throw_conflict();
  throw Error(*data_error_);
}

bool Operation::step_data() {
  if (!has_data_) return true;
  if (agreement_.conflict() || data_error_) return false;
  try {
    return executor_.step();
  } catch (const Error& error) {
    data_error_ = error;
    return false;
  }
}

void Operation::throw_conflict() const {
  const collectives::Conflict& conflict = *agreement_.conflict();
  throw Error(
      ErrorCode::mismatch,
      fmt::format(
          "ranks disagree on {}: rank {} calls {}, but rank {} calls {}; all ranks must make "
          "the same calls in the same order",
          collectives::differences(conflict.signature, conflict.other_signature), conflict.rank,
          collectives::describe(conflict.signature), conflict.other_rank,
          collectives::describe(conflict.other_signature)));
}

void Operation::cancel() {
  agreement_.cancel();
  if (has_data_) executor_.cancel();
  has_data_ = false;
}

}  // namespace rondo::engine
