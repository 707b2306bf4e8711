#pragma once

#include <cstddef>
#include <optional>

#include <rondo/buffer.hpp>
#include <rondo/types.hpp>

#include "collectives/signature.hpp"
#include "transport/transfer.hpp"
#include "transport/transport.hpp"

namespace rondo::engine {

/// One message between two ranks under way: first a header that says what comes, then the data.
/// Resumable; never blocks.
class Message {
 public:
  explicit Message(transport::Transport& transport) : transport_(transport) {}

  /// Which part of a message between the memories of devices this one is.
  struct Part {
    std::size_t count;  // elements of the whole message
    std::size_t index;
  };

  void start_send(ConstBuffer data, Rank to, std::optional<Part> part = {});
  void start_receive(Buffer data, Rank from, std::optional<Part> part = {});

  /// True when done. Throws Error(mismatch) when the header isn't what this receiver expects.
  bool step();
  static bool waits_in_memory() { return false; }
  bool progressed() const { return progressed_; }
  void cancel();

  /// What this rank asked for.
  const collectives::Signature& signature() const { return signature_; }

 private:
  void expect(const ConstBuffer& data, const std::optional<Part>& part);
  void poll(transport::Transfer& part);
  void receive_data();

  transport::Transport& transport_;
  collectives::Signature signature_;
  collectives::Signature received_;
  Buffer target_;
  Rank peer_ = -1;
  bool data_started_ = false;
  bool progressed_ = false;
  transport::Transfer header_;
  transport::Transfer data_;
};

}  // namespace rondo::engine
