#include "collectives/agreement.hpp"

#include <bit>

namespace rondo::collectives {

namespace {
int ceil_log2(int size) { return std::bit_width(static_cast<unsigned>(size - 1)); }
}  // namespace

void Agreement::start(const Signature& signature, transport::Tag tag) {
  signature_ = signature;
  tag_ = tag;
  conflict_.reset();
  rounds_needed_ = ceil_log2(transport_.size());
  begun_ = 0;
  if (rounds_needed_ > 0) begin_round();
}

void Agreement::begin_round() {
  const int size = transport_.size();
  const int distance = 1 << begun_;
  Round& round = rounds_[static_cast<std::size_t>(begun_)];
  round.outgoing = {signature_, conflict_.value_or(Conflict{})};
  const Rank from = (transport_.rank() + size - distance) % size;
  const Rank to = (transport_.rank() + distance) % size;
  round.receive =
      transport::Transfer(transport_.receive(from, tag_, &round.incoming, sizeof(Message)));
  round.send = transport::Transfer(transport_.send(to, tag_, &round.outgoing, sizeof(Message)));
  ++begun_;
}

bool Agreement::step() {
  progressed_ = false;
  if (rounds_needed_ == 0) return true;
  Round& current = rounds_[static_cast<std::size_t>(begun_ - 1)];
  if (current.receive.pending() && current.receive.complete(transport_)) {
    progressed_ = true;
    const int size = transport_.size();
    learn(current.incoming, (transport_.rank() + size - (1 << (begun_ - 1))) % size);
    if (begun_ < rounds_needed_) begin_round();
  }
  bool all_sent = true;
  for (int index = 0; index < begun_; ++index) {
    Round& round = rounds_[static_cast<std::size_t>(index)];
    all_sent = round.send.complete(transport_) && all_sent;
  }
  return all_sent && begun_ == rounds_needed_ &&
         !rounds_[static_cast<std::size_t>(begun_ - 1)].receive.pending();
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
    round.receive.cancel(transport_);
    round.send.cancel(transport_);
  }
  begun_ = rounds_needed_ = 0;
}

}  // namespace rondo::collectives
