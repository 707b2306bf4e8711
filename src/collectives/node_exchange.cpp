#include "collectives/node_exchange.hpp"

#include <algorithm>
#include <cstring>

namespace rondo::collectives {

using transport::NodeArea;
using transport::SharedHeap;

namespace {

/// Elements of the largest part of the message that a rank has as its input.
std::size_t contribution(const NodeSlices::Shape& shape) {
  if (shape.collective != Collective::allgather) return shape.count;
  std::size_t largest = 0;
  for (int rank = 0; rank < shape.ranks; ++rank)
    largest = std::max(largest, shape.blocks->size(rank));
  return largest;
}

/// The part of the message that this rank has as its input.
Slice own_input(const NodeSlices::Shape& shape, int rank) {
  if (shape.collective == Collective::allgather)
    return {shape.blocks->offset(rank), shape.blocks->size(rank)};
  if (shape.collective == Collective::broadcast && rank != shape.root) return {};
  return {0, shape.count};
}

}  // namespace

/// Everyone reads what all told, so that more ranks make larger messages dear.
bool NodeExchange::is_small() const {
  const auto ranks = static_cast<std::size_t>(arena_.size());
  const std::size_t told = operands_.bytes(contribution(operands_.shape));
  return told <= std::min(NodeArea::kPayloadBytes, 2 * NodeArea::kPayloadBytes / ranks);
}

void NodeExchange::start(const NodeOperands& operands, const Signature& signature,
                         std::uint64_t terms) {
  operands_ = operands;
  if (is_small())
    tell_input();
  else
    tell_places();
  arrival_.start(signature, terms);
}

void NodeExchange::tell_input() {
  way_ = Way::small;
  std::byte* place = arrival_.prepare(operands_.bytes(contribution(operands_.shape)));
  const Slice own = own_input(operands_.shape, arena_.self());
  stores_.copy(operands_.input_at(own.begin), place, operands_.bytes(own.count));
}

void NodeExchange::tell_places() {
  const NodeSlices::Shape& shape = operands_.shape;
  const auto place_of = [&](const Window& window, std::size_t elements) {
    return SharedHeap::instance().find(window.data, operands_.bytes(elements));
  };
  const NodePlaces places{place_of(operands_.input, own_input(shape, arena_.self()).count),
                          place_of(operands_.output, shape.count)};
  std::memcpy(arrival_.prepare(sizeof places), &places, sizeof places);
  way_ = Way::undecided;
  if (!NodeDirect::allows(places, shape, arena_.self())) {
    way_ = Way::copying;  // whatever the others have
    copying_.start(operands_);
  }
}

bool NodeExchange::step() {
  progressed_ = false;
  if (!arrival_.arrived()) {
    arrival_.step();
    progressed_ = arrival_.progressed();
  }
  if (arrival_.conflict()) return false;
  if (way_ == Way::copying) {
    const bool done = copying_.step();
    progressed_ |= copying_.progressed();
    return done && arrival_.arrived();
  }
  if (!arrival_.arrived()) return false;
  if (way_ == Way::small) return finish_small(), true;
  if (way_ == Way::undecided) {
    decide();
    if (way_ == Way::copying) return step();
  }
  const bool done = direct_.step();
  progressed_ |= direct_.progressed();
  return done;
}

void NodeExchange::decide() {
  way_ = Way::direct;
  for (int rank = 0; rank < arena_.size(); ++rank) {
    NodePlaces places;
    std::memcpy(&places, arrival_.told_by(rank), sizeof places);
    if (!NodeDirect::allows(places, operands_.shape, rank)) way_ = Way::copying;
  }
  if (way_ == Way::copying)
    copying_.start(operands_);
  else
    direct_.start(operands_, arrival_);
}

std::string_view NodeExchange::way() const {
  switch (way_) {
    case Way::small:
      return "node, small";
    case Way::copying:
      return "node, copying";
    case Way::direct:
      return "node, direct";
    case Way::undecided:
      break;
  }
  return "node";
}

void NodeExchange::finish_small() {
  const NodeSlices::Shape& shape = operands_.shape;
  const int self = arena_.self();
  if (!collectives::reduces(shape.collective)) {
    for (int rank = 0; rank < arena_.size(); ++rank) {
      const Slice part = own_input(shape, rank);
      if (rank != self || shape.collective == Collective::allgather)
        operands_.store(arrival_.told_by(rank), part);
    }
    return;
  }
  if (shape.collective == Collective::reduce && self != shape.root) return;
  Slice part{0, shape.count};
  if (shape.collective == Collective::reduce_scatter)
    part = {shape.blocks->offset(self), shape.blocks->size(self)};
  sources_.resize(static_cast<std::size_t>(arena_.size()));
  for (std::size_t rank = 0; rank < sources_.size(); ++rank)
    sources_[rank] = arrival_.told_by(static_cast<int>(rank)) + operands_.bytes(part.begin);
  operands_.arithmetic.reduce_all(sources_, operands_.output_at(part.begin), part.count);
}

}  // namespace rondo::collectives
