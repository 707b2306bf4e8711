#include "engine/operation.hpp"

#include <utility>

#include <fmt/core.h>

#include "core/log.hpp"
#include "engine/tags.hpp"

namespace rondo::engine {

using collectives::Choice;
using collectives::Collective;
using collectives::Window;

namespace {

using Clock = std::chrono::steady_clock;

/// How long an operation in trouble waits for the agreement to tell every rank the reason.
constexpr std::chrono::seconds kPatience{1};

std::byte* bytes(const void* data) {
  return const_cast<std::byte*>(static_cast<const std::byte*>(data));
}

}  // namespace

Operation::Operation(transport::Transport& transport, CallKind kind)
    : transport_(transport),
      preparation_(transport, kind),
      agreement_(transport),
      executor_(transport) {}

void Operation::meet_at(Node& node) {
  preparation_.meet_on_node();
  (node.is_all() ? node_ : part_) = &node;
}

void Operation::start(const Call& call, const Terms& terms, std::uint64_t sequence,
                      ProgramCache& programs) {
  data_ = Data::none;
  agreed_ = false;
  data_error_.reset();
  trouble_since_.reset();
  preparation_.prepare(call, terms, sequence);
  if (!call.by_group) check_memory(call, transport_.rank());
  const bool moves = moves_data(call);
  const auto path = moves ? choice().algorithm->path : collectives::Path::network;
  if (path == collectives::Path::node) return start_on_node(call);
  const bool rides = path == collectives::Path::piggyback;
  if (node_ != nullptr) {
    node_->arrival().prepare(0);
    node_->arrival().start(signature(), preparation_.terms_digest());
  } else {
    agreement_.start(signature(), tag_base(sequence) + kAgreementChannel,
                     rides ? piggyback(call) : collectives::Piggyback{});
    if (rides) log_without_plan();
  }
  if (call.by_group && choice().algorithm->path == collectives::Path::group) log_without_plan();
  if (!moves || rides) return;
  if (path == collectives::Path::hierarchical)
    start_hierarchical(call, terms);
  else if (path == collectives::Path::vendor)
    start_vendor(call);
  else
    start_data(call, programs);
}

const Choice& Operation::choose(const Call& call, const Terms& terms) {
  preparation_.prepare(call, terms, 0);
  return choice();
}

bool Operation::moves_data(const Call& call) const {
  return collectives::moves_data(call.collective) && !call.by_group &&
         (preparation_.count() > 0 || !call.output_counts.empty());
}

collectives::Piggyback Operation::piggyback(const Call& call) const {
  const bool wanted = call.collective == Collective::allreduce || call.root == transport_.rank();
  return {.input = bytes(call.input.data),
          .output = wanted ? bytes(call.output.data) : nullptr,
          .count = call.input.count,
          .arithmetic = arithmetic()};
}

void Operation::start_data(const Call& call, ProgramCache& programs) {
  collectives::Operands operands;
  operands.arithmetic = arithmetic();
  bool is_new = false;
  const bool load = collectives::reduces(call.collective) && operands.arithmetic.must_load();
  const collectives::Program& program = programs.get(*choice().algorithm, call.root, load, is_new);
  log_once(is_new);
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
  operands.segment_bytes = choice().segment_bytes;
  operands.tag_base = tag_base(signature().sequence);
  executor_.start(program, operands);
  data_ = Data::plan;
}

void Operation::start_on_node(const Call& call) {
  collectives::NodeOperands operands;
  operands.arithmetic = arithmetic();
  operands.shape = {.collective = call.collective,
                    .ranks = transport_.size(),
                    .root = call.root,
                    .element_bytes = arithmetic().bytes_of(collectives::Value::finished),
                    .blocks = &output_layout_,
                    .count = preparation_.count()};
  const bool in_blocks =
      call.collective == Collective::reduce_scatter || call.collective == Collective::allgather;
  if (in_blocks) set_layouts(call, transport_.size());
  operands.output = output_window(call);
  // A broadcast's root has its data where the others get it.
  const bool one_buffer = call.collective == Collective::broadcast;
  operands.input = one_buffer ? operands.output : Window{bytes(call.input.data), 0};
  if (call.collective == Collective::allgather)
    operands.input.origin = input_layout_.offset(transport_.rank());
  log_without_plan();
  data_ = Data::node;
  node_->exchange().start(operands, signature(), preparation_.terms_digest());
}

void Operation::start_hierarchical(const Call& call, const Terms& terms) {
  collectives::Request lane;
  lane.collective = Collective::allreduce;
  lane.ranks = transport_.topology().nodes();
  lane.nodes = lane.ranks;
  lane.bytes = call.input.count / static_cast<std::size_t>(part_->lanes()) *
               arithmetic().bytes_of(collectives::Value::partial);
  lane.deterministic = terms.deterministic;
  lane.segment_bytes = terms.segment_bytes;
  const Choice lane_choice = collectives::select(lane);
  const transport::Tag tag = tag_base(signature().sequence);
  log_without_plan();
  data_ = Data::hierarchical;
  part_->hierarchical().start({.arithmetic = arithmetic(),
                               .input = bytes(call.input.data),
                               .output = bytes(call.output.data),
                               .count = call.input.count,
                               .lane_program = part_->lane_program(*lane_choice.algorithm),
                               .segment_bytes = lane_choice.segment_bytes,
                               .tag_bases = {tag, tag + kSecondPlan}});
}

void Operation::start_vendor(const Call& call) {
  using Kind = transport::VendorCall::Kind;
  const auto kind_of = [](Collective collective) {
    switch (collective) {
      case Collective::reduce:
        return Kind::reduce;
      case Collective::broadcast:
        return Kind::broadcast;
      case Collective::allgather:
        return Kind::allgather;
      default:
        return Kind::allreduce;
    }
  };
  vendor_call_ = {.kind = kind_of(call.collective),
                  .input = call.input.data,
                  .output = call.output.data,
                  .count = call.input.count,
                  .type = call.input.type,
                  .op = call.op,
                  .root = call.root};
  vendor_begun_ = false;
  data_ = Data::vendor;
  log_without_plan();
}

/// Begins only when all ranks have agreed: MPI would end the job, or write behind the memory, where
/// they differ. So hardly anything can go wrong while a call is pending, which can't be cancelled.
bool Operation::step_vendor() {
  if (!agreed_) return false;
  transport::Vendor& vendor = *transport_.vendor();
  if (!std::exchange(vendor_begun_, true)) vendor.start(vendor_call_);
  return vendor.step();
}

void Operation::log_without_plan() {
  log_once(!std::exchange(logged_[static_cast<std::size_t>(choice().algorithm->collective)], true));
}

void Operation::log_once(bool is_new) const {
  if (is_new && !preparation_.is_step())
    core::log(core::LogLevel::info, fmt::format("{}: {} ({})", collectives::describe(signature()),
                                                choice().algorithm->name, choice().reason));
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
  const bool moved = step_data();
  const bool agreed = agreed_ = step_agreement();
  if (agreed && !conflict()) trust_sizes();
  const bool trouble = conflict().has_value() || data_error_.has_value();
  if (!trouble) return agreed && moved;
  if (!trouble_since_) trouble_since_ = Clock::now();
  if (!agreed && Clock::now() - *trouble_since_ < kPatience) return false;
  if (conflict()) throw Error(ErrorCode::mismatch, describe(*conflict()));
  throw Error(*data_error_);
}

/// What all ranks agree on needs no look at each message.
void Operation::trust_sizes() {
  if (data_ == Data::plan) executor_.trust_sizes();
  if (data_ == Data::hierarchical) part_->hierarchical().trust_sizes();
}

bool Operation::step_agreement() {
  if (node_ == nullptr) return agreement_.step();
  if (data_ == Data::node) return node_->arrival().arrived();  // the exchange steps it
  return node_->arrival().step();
}

bool Operation::step_data() {
  if (data_ == Data::none) return true;
  if (conflict() || data_error_) return false;
  try {
    if (data_ == Data::node) return node_->exchange().step();
    if (data_ == Data::vendor) return step_vendor();
    return data_ == Data::plan ? executor_.step() : part_->hierarchical().step();
  } catch (const Error& error) {
    data_error_ = error;
    return false;
  }
}

bool Operation::progressed() const {
  const bool agreed = node_ == nullptr ? agreement_.progressed() : node_->arrival().progressed();
  switch (data_) {
    case Data::none:
    case Data::vendor:
      return agreed;
    case Data::plan:
      return agreed || executor_.progressed();
    case Data::node:
      return node_->exchange().progressed();
    case Data::hierarchical:
      return agreed || part_->hierarchical().progressed();
  }
  return agreed;
}

const std::optional<collectives::Conflict>& Operation::conflict() const {
  return node_ == nullptr ? agreement_.conflict() : node_->arrival().conflict();
}

void Operation::cancel() {
  agreement_.cancel();
  if (data_ == Data::plan) executor_.cancel();
  if (data_ == Data::hierarchical) part_->hierarchical().cancel();
  data_ = Data::none;
}

}  // namespace rondo::engine
