#pragma once

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

  void start_send(ConstBuffer data, Rank to);
  void start_receive(Buffer data, Rank from);

  /// True when done. Throws Error(mismatch) when the header isn't what this receiver expects.
  bool step();
  static bool waits_in_memory() { return false; }
  bool progressed() const { return progressed_; }
  void cancel();

  /// What this rank asked for.
  const collectives::Signature& signature() const { return signature_; }

 private:
  void expect(const ConstBuffer& data);
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
