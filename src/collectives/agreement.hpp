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
/// ceil(log2 n) rounds (Hensgen, Finkel & Manber, 1988).
///
///   round k:  rank r tells r + 2^k its signature and any conflict it knows;  r - 2^k tells r
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
  struct Round {
    Message outgoing;
    Message incoming;
    transport::Transfer send;
    transport::Transfer receive;
  };
  static constexpr int kMaxRounds = 31;

  void begin_round();
  void learn(const Message& message, Rank sender);

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
