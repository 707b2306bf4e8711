#include "engine/message.hpp"

#include <fmt/core.h>

#include <rondo/error.hpp>

#include "engine/tags.hpp"

namespace rondo::engine {

void Message::expect(const ConstBuffer& data) {
  signature_ = {};
  signature_.collective = collectives::Collective::send_receive;
  signature_.count = data.count;
  signature_.type = data.type;
}

void Message::start_send(ConstBuffer data, Rank to) {
  expect(data);
  receiving_ = false;
  peer_ = to;
  header_ = {transport_.send(to, kHeaderChannel, &signature_, sizeof signature_), true};
  data_ = {transport_.send(to, kMessageChannel, data.data, data.bytes()), true};
  data_started_ = true;
}

void Message::start_receive(Buffer data, Rank from) {
  expect(data);
  receiving_ = true;
  peer_ = from;
  target_ = data;
  header_ = {transport_.receive(from, kHeaderChannel, &received_, sizeof received_), true};
  data_ = {};
  data_started_ = false;
}

void Message::poll(Part& part) {
  if (!part.pending) return;
  part.pending = false;  // for cancel(): if test() throws, the ticket is gone
  part.pending = !transport_.test(part.ticket);
  progressed_ = progressed_ || !part.pending;
}

bool Message::step() {
  progressed_ = false;
  poll(header_);
  if (receiving_ && !header_.pending && !data_started_) receive_data();
  poll(data_);
  return data_started_ && !header_.pending && !data_.pending;
}

void Message::receive_data() {
  if (received_ != signature_)
    throw Error(ErrorCode::mismatch,
                fmt::format("rank {} receives {} {} from rank {}, which sends {} {}",
                            transport_.rank(), signature_.count, name_of(signature_.type), peer_,
                            received_.count, name_of(received_.type)));
  data_ = {transport_.receive(peer_, kMessageChannel, target_.data, target_.bytes()), true};
  data_started_ = true;
}

void Message::cancel() {
  if (header_.pending) transport_.cancel(header_.ticket);
  if (data_.pending) transport_.cancel(data_.ticket);
  header_ = data_ = {};
}

}  // namespace rondo::engine
