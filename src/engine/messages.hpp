#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <vector>

#include <rondo/error.hpp>

#include "engine/launch.hpp"
#include "engine/message.hpp"
#include "transport/transport.hpp"

namespace rondo::engine {

/// The sends and receives of one communicator that are pending. Sends begin at once; the receives
/// from one rank take turns, since messages between two ranks are matched in order.
class Messages {
 public:
  /// Both must live as long as this; `count` goes down whenever one is over.
  Messages(transport::Transport& transport, std::atomic<int>& count)
      : transport_(transport), count_(count), last_turn_(ranks()), turn_(ranks()) {}

  /// Throws what Message throws.
  void add(Launch& launch);
  bool empty() const { return pending_.empty(); }
  bool receives_from(Rank peer) const {
    return turn_[static_cast<std::size_t>(peer)] != last_turn_[static_cast<std::size_t>(peer)];
  }

  /// One step of each. Never blocks. True if anything moved. Throws what Message throws.
  bool step();
  /// Calls `visit` with the launch and the signature of each that has begun.
  template <class Visit>
  void for_each(Visit visit) {
    for (Pending& one : pending_)
      if (one.begun) visit(*one.launch, one.message.signature());
  }

  void cancel();
  /// All have failed, and are cancelled.
  void fail(const Error& error) noexcept;

 private:
  struct Pending {
    explicit Pending(transport::Transport& transport) : message(transport) {}
    Message message;
    Launch* launch = nullptr;
    std::uint64_t turn = 0;  // of a receive, among those from its peer
    bool begun = false;
  };

  std::size_t ranks() const { return static_cast<std::size_t>(transport_.size()); }
  void begin(Pending& one);
  void end(Pending& one);

  transport::Transport& transport_;
  std::atomic<int>& count_;
  std::list<Pending> pending_;
  std::list<Pending> free_;
  std::list<Pending> failed_;  // MPI may still send from their memory
  // Of the receives from each rank: the newest one's turn, and that of the latest that is over.
  std::vector<std::uint64_t> last_turn_;
  std::vector<std::uint64_t> turn_;
};

}  // namespace rondo::engine
