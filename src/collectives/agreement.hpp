#pragma once

#include <array>
#include <optional>

#include "collectives/signature.hpp"
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

/// Finds out, beside the data of an operation, whether all ranks agree on it: a dissemination in
/// ceil(log4 n) rounds (after Hensgen, Finkel & Manber, 1988, with three messages a round for one).
///
///   round k:  rank r tells r + 4^k, r + 2·4^k and r + 3·4^k its signature and any conflict it
///             knows;  r - 4^k, r - 2·4^k and r - 3·4^k tell r
///
/// After the last round every rank has heard, directly or not, of every other: so it is a barrier
/// too, and each conflict is known to all. Every message has one size and one tag, whatever the
/// operation.
class Agreement {
 public:
  explicit Agreement(transport::Transport& transport) : transport_(transport) {}
  Agreement(const Agreement&) = delete;
  Agreement& operator=(const Agreement&) = delete;

  void start(const Signature& signature, transport::Tag tag);
  /// Never blocks. True once every rank is known to have arrived.
  bool step();
  bool progressed() const { return progressed_; }
  /// Set as soon as a conflict is known, at the latest when step() returns true.
  const std::optional<Conflict>& conflict() const { return conflict_; }
  void cancel();

 private:
  struct Message {
    Signature signature;
    Conflict conflict;  // rank < 0: none
  };
  static constexpr int kPeers = 3;  // in one direction
  static constexpr int kMaxRounds = 16;
  /// One message in, from the rank that is `distance` before this one. 0: not needed.
  struct Arrival {
    int distance = 0;
    Message message;
    transport::Transfer receive;
  };
  struct Round {
    Message outgoing;
    std::array<Arrival, kPeers> arrivals;
    std::array<transport::Transfer, kPeers> sends;
  };

  void begin_round();
  void learn(const Message& message, Rank sender);
  Rank rank_before(int distance) const;
  bool receive_round(Round& round);
  bool all_sent();

  transport::Transport& transport_;
  transport::Tag tag_ = 0;
  Signature signature_;
  std::optional<Conflict> conflict_;
  std::array<Round, kMaxRounds> rounds_;
  int rounds_needed_ = 0;
  int begun_ = 0;
  bool progressed_ = false;
};

}  // namespace rondo::collectives
