#pragma once

#include "transport/transport.hpp"

namespace rondo::transport {

/// A send or receive that is waited for by polling. It knows when its ticket is gone, so that it
/// can be given up at any time.
class Transfer {
 public:
  Transfer() = default;
  explicit Transfer(Ticket ticket) : ticket_(ticket), pending_(true) {}

  bool pending() const { return pending_; }

  /// True if there is nothing (more) to wait for. Throws what Transport::test throws.
  bool complete(Transport& transport) {
    if (!pending_) return true;
    pending_ = false;  // if test() throws, the ticket is gone
    pending_ = !transport.test(ticket_);
    return !pending_;
  }

  void cancel(Transport& transport) {
    if (pending_) transport.cancel(ticket_);
    pending_ = false;
  }

 private:
  Ticket ticket_{};
  bool pending_ = false;
};

}  // namespace rondo::transport
