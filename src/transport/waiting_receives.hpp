#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include <rondo/types.hpp>

#include "transport/transport.hpp"

namespace rondo::transport {

/// Receives whose messages have not arrived: for each peer and tag a queue, oldest first, linked
/// from ticket to ticket. Nothing is allocated unless there are more than ever before.
class WaitingReceives {
 public:
  WaitingReceives() : behind_(kUsual) { queues_.reserve(kUsual); }

  /// Returns the queue that the receive waits in.
  std::size_t add(Rank peer, Tag tag, Ticket ticket) {
    const std::size_t index = queue_for(peer, tag);
    Queue& queue = queues_[index];
    if (ticket >= behind_.size()) behind_.resize(ticket + 1);
    behind_[ticket] = std::nullopt;
    (queue.first ? behind_[*queue.last] : queue.first) = ticket;
    queue.last = ticket;
    return index;
  }

  /// The queue in which receives of this peer and tag wait; none if there are none.
  std::optional<std::size_t> find(Rank peer, Tag tag) const {
    for (std::size_t index = 0; index < queues_.size(); ++index)
      if (queues_[index].first && queues_[index].peer == peer && queues_[index].tag == tag)
        return index;
    return std::nullopt;
  }

  std::optional<Ticket> oldest(std::size_t queue) const { return queues_[queue].first; }

  /// Takes out a receive that waits in this queue.
  void remove(std::size_t index, Ticket ticket) {
    Queue& queue = queues_[index];
    std::optional<Ticket> before;
    std::optional<Ticket>* link = &queue.first;
    while (*link != ticket) {
      before = *link;
      link = &behind_[*before];
    }
    *link = behind_[ticket];
    if (queue.last == ticket) queue.last = before;
  }

 private:
  static constexpr std::size_t kUsual = 256;  // more than most plans have in flight

  struct Queue {
    Rank peer = -1;
    Tag tag = 0;
    std::optional<Ticket> first;
    std::optional<Ticket> last;
  };

  /// The queue in which others wait already, else one in which nobody does.
  std::size_t queue_for(Rank peer, Tag tag) {
    std::size_t unused = queues_.size();
    for (std::size_t index = 0; index < queues_.size(); ++index) {
      const Queue& queue = queues_[index];
      if (!queue.first)
        unused = index;
      else if (queue.peer == peer && queue.tag == tag)
        return index;
    }
    if (unused == queues_.size()) queues_.emplace_back();
    queues_[unused].peer = peer;
    queues_[unused].tag = tag;
    return unused;
  }

  std::vector<Queue> queues_;
  std::vector<std::optional<Ticket>> behind_;  // by ticket: the one that waits behind it
};

}  // namespace rondo::transport
