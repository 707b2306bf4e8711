#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "collectives/arithmetic.hpp"
#include "collectives/signature.hpp"
#include "collectives/workspace.hpp"
#include "transport/transfer.hpp"
#include "transport/transport.hpp"

namespace rondo::collectives {

/// Two ranks whose signatures of one operation differ.
struct Conflict {
  Rank rank = -1;
  Rank other_rank = -1;
  Signature signature;
  Signature other_signature;
};

/// "ranks disagree on count: rank 0 calls …, but rank 1 calls …; …": for an Error(mismatch).
std::string describe(const Conflict& conflict);

/// Among so many ranks recursive multiplying by four takes less time than doubling: latency
/// decides for longer.
inline constexpr int kManyRanks = 9;

/// Up to so many bytes of elements are exchanged whole: fewest messages.
inline constexpr std::size_t kWholeLimit = std::size_t{8} * 1024;

/// Most bytes of elements that may ride on the messages of an agreement among so many ranks:
/// measured on virtual hosts with links of 1 Gbit/s. Between powers of two the extra ranks send
/// everything.
constexpr std::size_t piggyback_limit(Collective collective, int ranks) {
  if (collective != Collective::allreduce || ranks >= kManyRanks) return kWholeLimit;
  const bool has_extra = (ranks & (ranks - 1)) != 0;
  return std::size_t{has_extra ? 16U : 64U} * 1024;
}

/// The data of a small reduction, which rides on the agreement's messages.
struct Piggyback {
  const std::byte* input = nullptr;
  std::byte* output = nullptr;  // null where the result isn't wanted
  std::size_t count = 0;        // elements; 0: no data
  Arithmetic arithmetic;
};

/// Finds out whether all ranks agree on an operation: they exchange signatures by recursive
/// doubling (Thakur, Rabenseifner & Gropp, 2005), and by recursive multiplying by four among many
/// (Ruefenacht, Bull & Booth, 2017; see Cores for sizes between powers of two).
///
///   rank r, step k:  tells r xor 2^k its signature, any conflict that it knows, and, in a small
///                    reduction, what it has of the value; and hears the same from it
///
/// In the end every rank has heard, directly or not, of every other: so it is a barrier too, each
/// conflict is known to all, and the value is the sum of all, combined as a butterfly combines.
/// Of more than kWholeLimit bytes each gets the half that it goes on with, and the finished parts
/// take the same way back (Rabenseifner, 2004).
/// Every message has one tag and one format, whatever the operation. Larger operations run it
/// beside their data.
class Agreement {
 public:
  explicit Agreement(transport::Transport& transport);
  Agreement(const Agreement&) = delete;
  Agreement& operator=(const Agreement&) = delete;

  /// At most piggyback_limit() bytes of elements may ride.
  void start(const Signature& signature, transport::Tag tag, const Piggyback& data = {});
  /// Never blocks. True once every rank is known to have arrived; the output is then written unless
  /// there is a conflict.
  bool step();
  bool progressed() const { return progressed_; }
  /// Set as soon as a conflict is known, at the latest when step() returns true.
  const std::optional<Conflict>& conflict() const { return conflict_; }
  void cancel();

 private:
  static constexpr std::size_t kMostPeers = 3;

  /// What a message begins with; the partial value, or a Conflict, follows.
  struct alignas(16) Header {
    Signature signature;
    std::uint64_t has_conflict = 0;
  };
  /// Elements of the value.
  struct Range {
    std::size_t begin = 0;
    std::size_t count = 0;
  };
  enum class Kind : std::uint8_t {
    give_value,   // an extra rank to its stand-in
    take_value,   // a stand-in from its extra rank
    exchange,     // with each peer of a group; then all of them have the same
    collect,      // the finished parts of a group
    give_result,  // a stand-in to its extra rank
    take_result,  // an extra rank from its stand-in
  };
  struct Peer {
    Rank rank = -1;
    std::size_t place = 0;  // in the group, which combines in this order
    std::byte* outgoing = nullptr;
    std::byte* incoming = nullptr;
    transport::Transfer send{};
    transport::Transfer receive{};
  };
  struct Phase {
    Kind kind;
    std::size_t place = 0;  // of this rank in the group
    std::size_t peers = 0;
    std::array<Peer, kMostPeers> peer{};
    Range range{};             // what the group has in common
    std::size_t exchange = 0;  // index of the phase whose way back this is

    std::span<Peer> all_peers() { return {peer.data(), peers}; }
    /// What a place is left with when the group shares the range out.
    Range part(std::size_t of_place) const;
  };

  void plan_phases();
  void add_phase(Kind kind, Rank peer);
  void add_exchanges(int core);
  void add_collects();
  void make_room();
  void divide();
  Range kept(const Phase& phase, std::size_t place) const;
  bool is_skipped(const Phase& phase) const;
  void post(Phase& phase);
  void enter(Phase& phase);
  void send_value(Peer& peer, const Range& range);
  void send_message(Peer& peer, const void* body, std::size_t bytes);
  void exchange_finished_parts(Phase& phase);
  bool leave(Phase& phase);
  void learn(const std::byte* message, Rank sender);
  void combine(Phase& phase);
  void take_result(const Peer& peer);
  void finish();
  bool all_sent();
  std::size_t bytes_of(Value value, std::size_t elements) const {
    return elements * data_.arithmetic.bytes_of(value);
  }

  transport::Transport& transport_;
  std::vector<Phase> phases_;
  Workspace messages_;
  Workspace values_;
  Workspace results_;            // of ranks that don't want them
  std::size_t capacity_;         // of one message
  std::byte* value_ = nullptr;   // partial: what has been combined so far
  std::byte* result_ = nullptr;  // finished

  transport::Tag tag_ = 0;
  Signature signature_;
  Piggyback data_;
  std::optional<Conflict> conflict_;
  Range mine_;             // what this rank finishes
  bool in_parts_ = false;  // an exchange leaves each rank of the group with a part
  bool finished_ = false;
  std::size_t current_ = 0;
  bool progressed_ = false;
};

}  // namespace rondo::collectives
