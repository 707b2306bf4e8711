#pragma once

#include <cassert>
#include <cstddef>
#include <utility>
#include <vector>

#include "transport/transport.hpp"

namespace rondo::transport {

/// What a transport remembers about each ticket that is out. Slots are reused, so that nothing is
/// allocated once the table has reached its largest size.
template <class Entry>
class TicketTable {
 public:
  TicketTable() {
    slots_.reserve(kUsual);
    free_.reserve(kUsual);
  }

  Ticket add(Entry entry) {
    if (free_.empty()) {
      slots_.push_back({std::move(entry), true});
      return static_cast<Ticket>(slots_.size() - 1);
    }
    const Ticket ticket = free_.back();
    free_.pop_back();
    slots_[ticket] = {std::move(entry), true};
    return ticket;
  }

  Entry& at(Ticket ticket) {
    assert(ticket < slots_.size() && slots_[ticket].in_use);
    return slots_[ticket].entry;
  }

  /// Returns what the ticket stood for.
  Entry remove(Ticket ticket) {
    Entry entry = std::exchange(at(ticket), Entry{});
    slots_[ticket].in_use = false;
    free_.push_back(ticket);
    return entry;
  }

  /// Every ticket that is out.
  std::vector<Ticket> tickets() const {
    std::vector<Ticket> out;
    for (Ticket ticket = 0; ticket < slots_.size(); ++ticket)
      if (slots_[ticket].in_use) out.push_back(ticket);
    return out;
  }

 private:
  static constexpr std::size_t kUsual = 256;  // more than most plans have in flight

  struct Slot {
    Entry entry;
    bool in_use;
  };
  std::vector<Slot> slots_;
  std::vector<Ticket> free_;
};

}  // namespace rondo::transport
