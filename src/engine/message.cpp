#include "engine/message.hpp"

#include <fmt/core.h>

#include <rondo/error.hpp>

#include "engine/tags.hpp"

namespace rondo::engine {

void Message::expect(const ConstBuffer& data, const std::optional<Part>& part) {
  signature_ = {};
  signature_.collective = collectives::Collective::send_receive;
  signature_.count = part ? part->count : data.count;
  signature_.type = data.type;
  signature_.details = part ? part->index : 0;
  signature_.on_device = part ? 1 : 0;
}

void Message::start_send(ConstBuffer data, Rank to, std::optional<Part> part) {
  expect(data, part);
  peer_ = to;
  header_ =
      transport::Transfer(transport_.send(to, kHeaderChannel, &signature_, sizeof signature_));
  data_ = transport::Transfer(transport_.send(to, kMessageChannel, data.data, data.bytes()));
  data_started_ = true;
}

void Message::start_receive(Buffer data, Rank from, std::optional<Part> part) {
  expect(data, part);
  peer_ = from;
  target_ = data;
  header_ =
      transport::Transfer(transport_.receive(from, kHeaderChannel, &received_, sizeof received_));
  data_ = {};
  data_started_ = false;
}

void Message::poll(transport::Transfer& part) {
  if (part.pending() && part.complete(transport_)) progressed_ = true;
}

bool Message::step() {
  progressed_ = false;
  poll(header_);
  if (!data_started_ && !header_.pending()) receive_data();
  poll(data_);
  return data_started_ && !header_.pending() && !data_.pending();
}

void Message::receive_data() {
  if (received_ != signature_)
    throw Error(ErrorCode::mismatch,
                fmt::format("rank {} receives {} {} from rank {}, which sends {} {}{}",
                            transport_.rank(), signature_.count, name_of(signature_.type), peer_,
                            received_.count, name_of(received_.type),
                            received_.on_device == signature_.on_device
                                ? ""
                                : "; both must have it in a device's memory, or neither"));
  data_ = transport::Transfer(
      transport_.receive(peer_, kMessageChannel, target_.data, target_.bytes()));
  data_started_ = true;
}

void Message::cancel() {
  header_.cancel(transport_);
  data_.cancel(transport_);
}

}  // namespace rondo::engine
