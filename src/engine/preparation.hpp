#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "collectives/arithmetic.hpp"
#include "collectives/selector.hpp"
#include "collectives/signature.hpp"
#include "engine/call.hpp"
#include "transport/transport.hpp"

namespace rondo::engine {

/// Whether the caller waits inside the call.
enum class CallKind : std::uint8_t { blocking, asynchronous };

/// What follows from a call but for its memory: the algorithm that serves it, the arithmetic, and
/// the signature on which the ranks must agree. Kept for the next call, since most are like the one
/// before.
class Preparation {
 public:
  Preparation(const transport::Transport& transport, CallKind kind);

  /// The ranks of a node reach each other's memory.
  void meet_on_node();
  /// As Operation has it.
  void go_by(const collectives::TuningTable* tuning, bool vendor_allowed);
  /// The settings change, to which the terms of earlier calls refer.
  void forget_last_call() { prepared_call_.reset(); }

  /// Throws Error(usage) for a call that is wrong, wherever its memory is, and for an algorithm
  /// that can't serve.
  void prepare(const Call& call, const Terms& terms, std::uint64_t sequence);

  // Of the latest call:
  /// Elements that move; 0 where each rank knows its own alone.
  std::size_t count() const { return count_; }
  /// Whether it is a step of another one.
  bool is_step() const { return is_step_; }
  const collectives::Choice& choice() const { return choice_; }
  const collectives::Arithmetic& arithmetic() const { return arithmetic_; }
  const collectives::Signature& signature() const { return signature_; }
  /// Of the signature.
  std::uint64_t terms_digest() const { return terms_digest_; }

 private:
  bool is_prepared(const Call& call, const Terms& terms) const;
  void prepare_anew(const Call& call, const Terms& terms);
  collectives::Choice choose(const Call& call, const Terms& terms) const;
  void sign(const Call& step, const Terms& terms);
  void sign_data(const Call& call, const Terms& terms, std::string_view algorithm);

  const transport::Transport& transport_;
  CallKind kind_;
  collectives::Request at_this_placement_;  // what all requests have in common
  std::optional<Call> prepared_call_;
  Terms prepared_terms_;
  collectives::Choice choice_;
  collectives::Arithmetic arithmetic_;
  collectives::Signature signature_;
  std::uint64_t terms_digest_ = 0;
  std::size_t count_ = 0;
  bool is_step_ = false;
};

}  // namespace rondo::engine
