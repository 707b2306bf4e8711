#include "collectives/node_direct.hpp"

#include <algorithm>
#include <cstring>

namespace rondo::collectives {

using transport::NodeArea;

namespace {

constexpr std::size_t kLine = 64;

bool gives_input(const NodeSlices::Shape& shape, int rank) {
  return shape.collective != Collective::broadcast || rank == shape.root;
}

/// Whether others store into this rank's output.
bool gives_output(const NodeSlices::Shape& shape, int rank) {
  return shape.collective == Collective::allreduce ||
         (shape.collective == Collective::reduce && rank == shape.root);
}

}  // namespace

bool NodeDirect::allows(const NodePlaces& places, const NodeSlices::Shape& shape, int rank) {
  if (gives_input(shape, rank) && places.input.is_private()) return false;
  return !gives_output(shape, rank) || !places.output.is_private();
}

void NodeDirect::start(const NodeOperands& operands, const NodeArrival& arrival) {
  operands_ = operands;
  // One piece, so one slice for each rank.
  operands_.shape.slice_bytes = (operands_.bytes(operands_.shape.count) / kLine + 1) * kLine;
  slices_.set(operands_.shape);
  base_ = arena_.mine().fetched.value.load(std::memory_order_relaxed);
  done_ = false;
  map(arrival);
}

void NodeDirect::map(const NodeArrival& arrival) {
  const NodeSlices::Shape& shape = operands_.shape;
  inputs_.assign(static_cast<std::size_t>(shape.ranks), Window{});
  outputs_ = inputs_;
  held_.clear();
  const auto hold = [&](const transport::Location& place) {
    return held_.emplace_back(arena_.mapped().at(place)).get();
  };
  for (int rank = 0; rank < shape.ranks; ++rank) {
    const auto index = static_cast<std::size_t>(rank);
    if (rank == arena_.self()) {
      inputs_[index] = operands_.input;
      outputs_[index] = operands_.output;
      continue;
    }
    NodePlaces places;
    std::memcpy(&places, arrival.told_by(rank), sizeof places);
    const std::size_t origin =
        shape.collective == Collective::allgather ? shape.blocks->offset(rank) : 0;
    if (gives_input(shape, rank)) inputs_[index] = {hold(places.input), origin};
    if (gives_output(shape, rank)) outputs_[index] = {hold(places.output), 0};
  }
}

bool NodeDirect::step() {
  progressed_ = !done_;
  if (!done_) {
    if (slices_.reduces())
      combine();
    else
      collect();
    done_ = true;
    // This was one piece for all of the counters that NodeCopying counts pieces with.
    NodeArea& mine = arena_.mine();
    mine.staged.value.store(base_ + 1, std::memory_order_release);
    mine.reduced.value.store(base_ + 1, std::memory_order_release);
    arena_.raise(mine.fetched.value, base_ + 1);
  }
  for (int rank = 0; rank < arena_.size(); ++rank)
    if (!arena_.has_reached(arena_.of(rank).fetched.value, base_ + 1)) return false;
  return true;
}

void NodeDirect::combine() {
  const Slice slice = slices_.of(arena_.self(), 0);
  if (slice.count == 0) return;
  const std::size_t element = operands_.shape.element_bytes;
  sources_.clear();
  targets_.clear();
  for (int rank = 0; rank < arena_.size(); ++rank) {
    const auto index = static_cast<std::size_t>(rank);
    sources_.push_back(inputs_[index].at(slice.begin, element));
    if (slices_.is_for(rank) || (!slices_.is_exchanged() && rank == arena_.self()))
      targets_.push_back({outputs_[index].at(slice.begin, element), operands_.streams()});
  }
  combiner_.combine(operands_.arithmetic, sources_, targets_, slice.count);
}

/// Copies what others have.
void NodeDirect::collect() {
  for (int rank = 0; rank < arena_.size(); ++rank) {
    const Slice slice = slices_.of(rank, 0);
    if (slice.count == 0 || (rank == arena_.self() && operands_.input.data == nullptr)) continue;
    operands_.store(
        inputs_[static_cast<std::size_t>(rank)].at(slice.begin, operands_.shape.element_bytes),
        slice);
  }
}

}  // namespace rondo::collectives
