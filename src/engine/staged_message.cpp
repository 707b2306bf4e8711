#include "engine/staged_message.hpp"

namespace rondo::engine {

void StagedMessage::start_send(ConstBuffer data, Rank to, device::Event& after,
                               device::Staging& staging) {
  sends_ = true;
  start({.collective = collectives::Collective::send_receive,
         .input = data,
         .output = Buffer(nullptr, data.count, data.type),
         .root = to},
        after, staging, {});
}

void StagedMessage::start_receive(Buffer data, Rank from, device::Event& after,
                                  device::Staging& staging) {
  sends_ = false;
  start({.collective = collectives::Collective::send_receive,
         .input = ConstBuffer(nullptr, data.count, data.type),
         .output = data,
         .root = from},
        after, staging, {});
}

void StagedMessage::begin_part(std::size_t index, const Call& part) {
  const Message::Part which{between().count, index};
  if (sends_)
    message_.start_send(part.input, part.root, which);
  else
    message_.start_receive(part.output, part.root, which);
}

}  // namespace rondo::engine
