#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <rondo/types.hpp>

#include "core/backoff.hpp"
#include "transport/topology.hpp"
#include "transport/vendor.hpp"

namespace rondo::transport {

/// Matches a message: two messages between the same ranks with the same tag are received in the
/// order sent.
using Tag = int;
inline constexpr Tag kMaxTag = 32'767;  // what every MPI guarantees

/// A send or receive in flight. Valid until test() has said true, or cancel().
using Ticket = std::uint32_t;

/// Whether a receive may rely on its message's size: `known` once the ranks have agreed on the
/// operation, which all later receives of the same peer and tag must then say too. It is faster, as
/// is `at_most`: no message with this tag is ever longer, and a shorter one is welcome.
enum class Sizes : std::uint8_t { checked, known, at_most };

/// A small message outside any operation, delivered in order per sender but at any time: how ranks
/// tell each other of failures and ask who is alive. The transport only carries it; collectives and
/// engine give `kind` its meaning.
struct Notice {
  Rank sender = -1;  // filled in by the transport
  std::uint32_t kind = 0;
  std::uint64_t sequence = 0;
  std::array<char, 480> text{};  // zero-terminated
};

/// Notice::kind of the one notice that the transport itself sends: the sender has gone into
/// MPI_Finalize and answers nothing any more. What it sent before may still be on its way.
inline constexpr std::uint32_t kRankLeft = 0xffff'ffff;

/// How bytes move between the ranks of one communicator. None of the calls blocks, except where
/// said. Not thread-safe. Everything throws Error(mpi) or Error(peer_lost) when the machinery
/// underneath fails.
class Transport {
 public:
  virtual ~Transport() = default;

  virtual Rank rank() const = 0;
  virtual int size() const = 0;
  virtual const Topology& topology() const = 0;
  /// What moves the bytes: "Open MPI", "MPICH", "threads".
  virtual std::string name() const = 0;

  /// Starts a message of `bytes` (any size, 0 included) to `peer`, which may be this rank. `data`
  /// stays untouched and alive until complete, which may be only when the receive is tested.
  virtual Ticket send(Rank peer, Tag tag, const void* data, std::size_t bytes) = 0;
  /// Starts a receive; the message must have exactly `bytes`, or at most as many. A different size
  /// makes test() throw Error(mismatch), unless it is known that there can't be one.
  virtual Ticket receive(Rank peer, Tag tag, void* data, std::size_t bytes,
                         Sizes sizes = Sizes::checked) = 0;
  /// True once complete; the ticket is then gone, as it is when this throws Error(mismatch).
  virtual bool test(Ticket ticket) = 0;
  /// Gives up: a receive is cancelled and its memory is free again on return; a send is left to
  /// finish in the background (its memory must stay).
  virtual void cancel(Ticket ticket) = 0;

  /// Sends a notice, best effort; never throws.
  virtual void notify(Rank peer, const Notice& notice) noexcept = 0;
  /// The next notice that arrived, if any.
  virtual std::optional<Notice> poll_notice() = 0;

  /// For whoever waits, after a look that found nothing new: lets time pass.
  virtual void pause(core::Backoff& backoff) { backoff.pause(); }

  /// A transport among the ranks of one color, ordered by (key, rank); null for color < 0.
  /// Collective, and may block: the caller has just had a barrier.
  virtual std::unique_ptr<Transport> split(int color, int key) = 0;

  /// Ends the whole job with this exit status. Ranks that are threads throw Error(peer_lost) in
  /// each other instead.
  [[noreturn]] virtual void abort(int status) = 0;

  /// True when a failure must be thrown whatever RONDO_ON_FAILURE says, since ranks share one
  /// process.
  virtual bool throws_only() const { return false; }
  /// Alike for the communicators of one rank's process; of ranks that are threads, each is one.
  virtual const void* process() const { return nullptr; }

  /// Collectives of its own; null if it has none. Lives as long as this.
  virtual Vendor* vendor() { return nullptr; }
  virtual bool has_vendor() const { return false; }

  /// Tests only: if not 0, what other ranks tell through shared memory is noticed late, by random
  /// numbers drawn from this.
  virtual std::uint64_t delay_seed() const { return 0; }

  /// `action` is called before MPI takes the transport away, on the thread that ends MPI; calls
  /// still work in it. It must not throw.
  void when_ending(std::function<void()> action) { when_ending_ = std::move(action); }

  /// True when the calls may come from any thread, one at a time; else only from the first.
  virtual bool callable_from_any_thread() const { return false; }

 protected:
  void tell_ending() const noexcept {
    if (when_ending_) when_ending_();
  }

 private:
  std::function<void()> when_ending_;
};

}  // namespace rondo::transport
