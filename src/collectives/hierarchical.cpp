#include "collectives/hierarchical.hpp"

#include <algorithm>
#include <cstring>

namespace rondo::collectives {

using transport::NodeArea;
using transport::SharedHeap;

namespace {

constexpr std::size_t kLine = 64;
constexpr std::size_t kChunkBytes =
    std::size_t{256} * 1024;  // of a lane; long enough for the network's pace

std::size_t divide_up(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

}  // namespace

Hierarchical::Hierarchical(transport::NodeArena& arena, transport::Transport* lane, int lanes)
    : arena_(arena), lanes_(lanes), scatter_(arena, stores_), passing_on_(arena, stores_) {
  for (int i = 0; i < kAtOnce && lane != nullptr; ++i)
    flights_.push_back(std::make_unique<Flight>(*lane));
}

Hierarchical::~Hierarchical() {
  if (memory_.data != nullptr) SharedHeap::instance().deallocate(memory_.data, memory_.bytes);
}

void Hierarchical::start(const HierarchicalOperands& operands) {
  operands_ = operands;
  trusts_sizes_ = false;
  partial_bytes_ = operands.arithmetic.bytes_of(Value::partial);
  element_bytes_ = operands.arithmetic.bytes_of(Value::finished);

  const std::size_t longest = slice_of(0).count;
  const std::size_t line = std::max<std::size_t>(1, kLine / partial_bytes_);
  const std::size_t wanted = std::max<std::size_t>(1, longest * partial_bytes_ / kChunkBytes);
  chunk_elements_ = std::max(line, divide_up(divide_up(longest, wanted), line) * line);
  chunks_ = divide_up(longest, chunk_elements_);
  begun_ = published_ = 0;
  is_passing_on_ = false;
  collected_.assign(static_cast<std::size_t>(lanes_), 0);
  NodeArea& mine = arena_.mine();
  published_before_ = mine.published.value.load(std::memory_order_relaxed);
  operations_ = mine.collected.value.load(std::memory_order_relaxed) + 1;
  if (is_in_lane())
    reserve_lane_memory();
  else
    mine.published.value.store(published_before_ + chunks_, std::memory_order_relaxed);
  start_scatter();
}

/// The slices are whole cache lines, and alike on all nodes.
Slice Hierarchical::slice_of(int lane) const {
  const std::size_t line = std::max<std::size_t>(1, kLine / element_bytes_);
  const std::size_t share =
      divide_up(divide_up(operands_.count, static_cast<std::size_t>(lanes_)), line) * line;
  const std::size_t begin = std::min(operands_.count, static_cast<std::size_t>(lane) * share);
  return {begin, std::min(share, operands_.count - begin)};
}

Slice Hierarchical::chunk_of(int lane, std::size_t chunk) const {
  const Slice slice = slice_of(lane);
  const std::size_t begin = std::min(slice.count, chunk * chunk_elements_);
  return {slice.begin + begin, std::min(chunk_elements_, slice.count - begin)};
}

/// For this rank's slice: partial values, and what becomes of them; in one place where they are of
/// one type.
void Hierarchical::reserve_lane_memory() {
  const std::size_t count = slice_of(arena_.self()).count;
  const std::size_t results = count * element_bytes_;
  const std::size_t partials =
      operands_.arithmetic.partial_is_element() ? 0 : round_up(count * partial_bytes_);
  const std::size_t bytes = partials + results;
  if (bytes > memory_.bytes) {
    SharedHeap& heap = SharedHeap::instance();
    if (memory_.data != nullptr) heap.deallocate(memory_.data, memory_.bytes);
    memory_ = {};
    memory_ = {static_cast<std::byte*>(heap.allocate(bytes)), bytes};
  }
  results_ = memory_.data + partials;
  arena_.mine().lane_memory = SharedHeap::instance().find(results_, results);
  arena_.mine().lane_bytes = results;
}

/// Of a collective within the node in which each lane's slice is its rank's block.
NodeOperands Hierarchical::node_operands(Collective collective) const {
  NodeOperands operands;
  operands.shape = {.collective = collective,
                    .ranks = arena_.size(),
                    .element_bytes = element_bytes_,
                    .blocks = &blocks_,
                    .count = operands_.count};
  operands.arithmetic = operands_.arithmetic;
  return operands;
}

void Hierarchical::start_scatter() {
  block_counts_.assign(static_cast<std::size_t>(arena_.size()), 0);
  for (int lane = 0; lane < lanes_; ++lane)
    block_counts_[static_cast<std::size_t>(lane)] = slice_of(lane).count;
  blocks_.set_uneven(block_counts_);
  NodeOperands operands = node_operands(Collective::reduce_scatter);
  operands.result = Value::partial;
  operands.input = {operands_.input, 0};
  operands.output = {memory_.data, slice_of(arena_.self()).begin};
  scatter_.start(operands);
}

void Hierarchical::start_passing_on() {
  NodeOperands operands = node_operands(Collective::allgather);
  operands.input = {results_, slice_of(arena_.self()).begin};
  operands.output = {operands_.output, 0};
  passing_on_.start(operands);
  is_passing_on_ = true;
}

bool Hierarchical::step() {
  progressed_ = false;
  const bool scattered = scatter_.step();
  progressed_ |= scatter_.progressed();
  if (is_in_lane()) step_network();
  const bool collected = step_collect();
  NodeArea& mine = arena_.mine();
  if (mine.collected.value.load(std::memory_order_relaxed) < operations_) {
    if (!scattered || !collected || !step_passing_on()) return false;
    // From here on the others may begin their next operation, and say anew what they have.
    mine.collected.value.store(operations_, std::memory_order_release);
  }
  // The next operation will write to this rank's lane memory.
  for (int rank = 0; rank < arena_.size(); ++rank)
    if (!arena_.has_reached(arena_.of(rank).collected.value, operations_)) return false;
  return true;
}

void Hierarchical::step_network() {
  const Slice mine = slice_of(arena_.self());
  while (begun_ < chunks_ && begun_ < published_ + kAtOnce) {
    const Slice chunk = chunk_of(arena_.self(), begun_);
    if (scatter_.made() < chunk.begin + chunk.count - mine.begin) break;
    start_chunk(begun_++);
    progressed_ = true;
  }
  bool all_before = true;
  for (std::size_t chunk = published_; chunk < begun_; ++chunk) {
    Executor& executor = flights_[chunk % kAtOnce]->executor;
    if (trusts_sizes_) executor.trust_sizes();
    const bool done = executor.step();
    progressed_ |= executor.progressed();
    all_before = all_before && done;
    if (!all_before) continue;
    ++published_;
    arena_.mine().published.value.store(published_before_ + published_, std::memory_order_release);
  }
}

void Hierarchical::start_chunk(std::size_t chunk) {
  const Slice range = chunk_of(arena_.self(), chunk);
  const std::size_t offset = range.begin - slice_of(arena_.self()).begin;
  Flight& flight = *flights_[chunk % kAtOnce];
  flight.layout.set_even(range.count, operands_.lane_program->blocks());
  Operands operands;
  operands.input = {memory_.data + offset * partial_bytes_, 0};
  operands.input_value = Value::partial;
  operands.output = {results_ + offset * element_bytes_, 0};
  operands.input_layout = &flight.layout;
  operands.output_layout = &flight.layout;
  operands.arithmetic = operands_.arithmetic;
  operands.partials_in_output = operands_.arithmetic.partial_is_element();
  operands.segment_bytes = operands_.segment_bytes;
  operands.tag_base = operands_.tag_bases[chunk % kAtOnce];
  flight.executor.start(*operands_.lane_program, operands);
}

bool Hierarchical::step_collect() {
  bool all = true;
  for (int lane = 0; lane < lanes_; ++lane) {
    std::size_t& collected = collected_[static_cast<std::size_t>(lane)];
    while (collected < chunks_ &&
           arena_.has_reached(arena_.of(lane).published.value, published_before_ + collected + 1)) {
      if (!collect(chunk_of(lane, collected), lane)) break;
      ++collected;
      progressed_ = true;
    }
    all = all && collected == chunks_;
  }
  return all;
}

/// Null where it is smaller than it must be: the ranks disagree, which will soon be known.
std::shared_ptr<const std::byte> Hierarchical::memory_of(int lane) {
  if (lane == arena_.self()) return {std::shared_ptr<void>(), results_};
  const NodeArea& area = arena_.of(lane);
  if (area.lane_bytes < slice_of(lane).count * element_bytes_) return nullptr;
  return arena_.mapped().at(area.lane_memory);
}

/// Whether the others can't map what this lane's rank keeps; known once it published a chunk.
bool Hierarchical::is_private(int lane) const {
  return slice_of(lane).count > 0 && arena_.of(lane).lane_memory.is_private();
}

/// Once all lanes have published all chunks, and so are known to all ranks of the node. True when
/// nothing is to be passed on (any more).
bool Hierarchical::step_passing_on() {
  if (!is_passing_on_) {
    int lane = 0;
    while (lane < lanes_ && !is_private(lane)) ++lane;
    if (lane == lanes_) return true;
    start_passing_on();
  }
  const bool done = passing_on_.step();
  progressed_ |= passing_on_.progressed();
  return done;
}

/// False if it can't be.
bool Hierarchical::collect(Slice chunk, int lane) {
  if (chunk.count == 0 || is_private(lane)) return true;
  const std::shared_ptr<const std::byte> memory = memory_of(lane);
  if (memory == nullptr) return false;
  std::memcpy(operands_.output + chunk.begin * element_bytes_,
              memory.get() + (chunk.begin - slice_of(lane).begin) * element_bytes_,
              chunk.count * element_bytes_);
  return true;
}

void Hierarchical::cancel() {
  for (const auto& flight : flights_) flight->executor.cancel();
}

}  // namespace rondo::collectives
