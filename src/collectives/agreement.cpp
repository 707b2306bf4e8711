#include "collectives/agreement.hpp"

#include <cstdint>

namespace rondo::collectives {

void Agreement::start(const Signature& signature, transport::Tag tag) {
  signature_ = signature;
  tag_ = tag;
  conflict_.reset();
  rounds_needed_ = 0;
  for (std::int64_t reach = 1; reach < transport_.size(); reach *= kPeers + 1) ++rounds_needed_;
  begun_ = 0;
  if (rounds_needed_ > 0) begin_round();
}

Rank Agreement::rank_before(int distance) const {
  return (transport_.rank() + transport_.size() - distance) % transport_.size();
}

void Agreement::begin_round() {
  const int size = transport_.size();
  const std::int64_t unit = std::int64_t{1} << (2 * begun_);
  Round& round = rounds_[static_cast<std::size_t>(begun_)];
  round.outgoing = {signature_, conflict_.value_or(Conflict{})};
  for (std::size_t index = 0; index < kPeers; ++index) {
    Arrival& arrival = round.arrivals[index];
    const std::int64_t distance = unit * static_cast<std::int64_t>(index + 1);
    arrival.distance = distance < size ? static_cast<int>(distance) : 0;
    if (arrival.distance == 0) continue;
    const Rank to = (transport_.rank() + arrival.distance) % size;
    arrival.receive = transport::Transfer(
        transport_.receive(rank_before(arrival.distance), tag_, &arrival.message, sizeof(Message)));
    round.sends[index] =
        transport::Transfer(transport_.send(to, tag_, &round.outgoing, sizeof(Message)));
  }
  ++begun_;
}

bool Agreement::step() {
  progressed_ = false;
  if (rounds_needed_ == 0) return true;
  bool received = receive_round(rounds_[static_cast<std::size_t>(begun_ - 1)]);
  if (received && begun_ < rounds_needed_) {
    begin_round();
    received = false;
  }
  return all_sent() && received;
}

/// True once all messages of the round are in.
bool Agreement::receive_round(Round& round) {
  bool complete = true;
  for (Arrival& arrival : round.arrivals) {
    if (!arrival.receive.pending()) continue;
    if (!arrival.receive.complete(transport_)) {
      complete = false;
      continue;
    }
    progressed_ = true;
    learn(arrival.message, rank_before(arrival.distance));
  }
  return complete;
}

bool Agreement::all_sent() {
  bool all = true;
  for (int index = 0; index < begun_; ++index)
    for (transport::Transfer& send : rounds_[static_cast<std::size_t>(index)].sends)
      all = send.complete(transport_) && all;
  return all;
}

void Agreement::learn(const Message& message, Rank sender) {
  if (conflict_) return;
  if (message.conflict.rank >= 0)
    conflict_ = message.conflict;
  else if (message.signature != signature_)
    conflict_ = Conflict{transport_.rank(), sender, signature_, message.signature};
}

void Agreement::cancel() {
  for (int index = 0; index < begun_; ++index) {
    Round& round = rounds_[static_cast<std::size_t>(index)];
    for (Arrival& arrival : round.arrivals) arrival.receive.cancel(transport_);
    for (transport::Transfer& send : round.sends) send.cancel(transport_);
  }
  begun_ = rounds_needed_ = 0;
}

}  // namespace rondo::collectives
