#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "transport/node_arena.hpp"
#include "transport/transport.hpp"

namespace rondo::engine {

/// How the ranks of a communicator come to share memory within their nodes: each makes an area,
/// maps those of its node, and says how that went. If one of them can't, all do without.
///
///   exchange offers() → join → exchange outcome() → conclude
class NodeMeeting {
 public:
  using Offer = transport::NodeArena::Offer;
  enum class Outcome : std::uint8_t { fine, refused, in_trouble, let_down };

  /// `all` must live as long as this.
  explicit NodeMeeting(const transport::Transport& all);

  const Offer& offer() const { return offer_; }
  /// With the offers of all ranks.
  void join(std::span<const Offer> offers);
  Outcome outcome() const { return outcome_; }
  /// With the outcomes of all ranks: whether one of them may not open the others' descriptors, so
  /// that another meeting, with names, may do better.
  static bool wants_names(std::span<const Outcome> outcomes);
  /// With the outcomes of all ranks: the arena, null unless all are fine. One rank of those in
  /// trouble says why, unless that `is_known`.
  std::unique_ptr<transport::NodeArena> conclude(std::span<const Outcome> outcomes, bool is_known);

 private:
  template <class Action>
  void attempt(Action action);
  void say_why_not() const;

  const transport::Transport& all_;
  std::unique_ptr<transport::NodeArena> arena_;
  Offer offer_;
  Outcome outcome_ = Outcome::fine;
  std::string trouble_;
};

}  // namespace rondo::engine
