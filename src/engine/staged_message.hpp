#pragma once

#include <cstdint>

#include "engine/message.hpp"
#include "engine/staged_series.hpp"

namespace rondo::engine {

/// A send or receive of a device's memory under way: a message for each of its parts, between ranks
/// that both have such memory.
class StagedMessage final : public StagedSeries {
 public:
  /// Both must live as long as this.
  StagedMessage(Message& message, const transport::Transport& transport)
      : StagedSeries(transport.rank(), transport.size()), message_(message) {}

  /// Begin when `after` is done.
  void start_send(ConstBuffer data, Rank to, device::Event& after, device::Staging& staging);
  void start_receive(Buffer data, Rank from, device::Event& after, device::Staging& staging);

  std::uint64_t sequence() const override { return 0; }

 private:
  bool may_begin_part(std::uint64_t) const override { return true; }
  void begin_part(std::size_t index, const Call& part) override;
  bool step_part() override { return message_.step(); }
  bool part_progressed() const override { return message_.progressed(); }
  bool part_waits_in_memory() const override { return Message::waits_in_memory(); }
  const collectives::Signature& part_signature() const override { return message_.signature(); }
  void cancel_part() override { message_.cancel(); }

  Message& message_;
  bool sends_ = false;
};

}  // namespace rondo::engine
