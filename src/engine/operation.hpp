#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include <rondo/error.hpp>

#include "collectives/agreement.hpp"
#include "collectives/executor.hpp"
#include "collectives/layout.hpp"
#include "engine/call.hpp"
#include "engine/node.hpp"
#include "engine/preparation.hpp"
#include "engine/program_cache.hpp"
#include "transport/transport.hpp"

namespace rondo::engine {

/// One collective operation under way: the agreement on what it is, and beside it the data.
/// Resumable; never blocks.
class Operation {
 public:
  explicit Operation(transport::Transport& transport, CallKind kind = CallKind::blocking);

  /// Throws Error(usage) for a call that is wrong, and for an algorithm that can't serve.
  void start(const Call& call, const Terms& terms, std::uint64_t sequence, ProgramCache& programs);

  /// From the next operation on, the ranks meet here instead of sending messages. It must live as
  /// long as this.
  void meet_at(Node& node);
  /// What was measured at this placement of ranks (null: nothing), which must live as long as this,
  /// and whether the transport's own collectives may be chosen, which
  /// blocking calls alone can: all ranks must begin them in one order.
  void go_by(const collectives::TuningTable* tuning, bool vendor_allowed) {
    preparation_.go_by(tuning, vendor_allowed);
  }

  /// The settings change, to which the terms of earlier calls refer.
  void forget_last_call() { preparation_.forget_last_call(); }

  /// What would serve a call that moves data. Throws as start() does.
  const collectives::Choice& choose(const Call& call, const Terms& terms);

  /// True when done. Throws Error(mismatch) when ranks disagree, and what the transport throws.
  bool step();
  bool progressed() const;
  /// Whether what it waits for is a number in the node's memory, and nothing else.
  bool waits_in_memory() const {
    return node_ != nullptr && (data_ == Data::node || data_ == Data::none);
  }
  void cancel();

  const collectives::Signature& signature() const { return preparation_.signature(); }
  /// Its name, within a node with the way; empty for a barrier.
  std::string_view algorithm() const {
    if (data_ == Data::node) return node_->exchange().way();
    return choice().algorithm == nullptr ? "" : choice().algorithm->name;
  }

 private:
  const collectives::Choice& choice() const { return preparation_.choice(); }
  const collectives::Arithmetic& arithmetic() const { return preparation_.arithmetic(); }
  bool moves_data(const Call& call) const;
  collectives::Piggyback piggyback(const Call& call) const;
  void start_data(const Call& call, ProgramCache& programs);
  void set_layouts(const Call& call, int blocks);
  collectives::Window output_window(const Call& call) const;
  void start_on_node(const Call& call);
  void start_vendor(const Call& call);
  bool step_vendor();
  void start_hierarchical(const Call& call, const Terms& terms);
  void log_without_plan();
  void log_once(bool is_new) const;
  void trust_sizes();
  bool step_agreement();
  bool step_data();
  const std::optional<collectives::Conflict>& conflict() const;

  transport::Transport& transport_;
  Preparation preparation_;
  collectives::Agreement agreement_;
  collectives::Executor executor_;

  collectives::Layout input_layout_;
  collectives::Layout output_layout_;
  enum class Data : std::uint8_t { none, plan, node, hierarchical, vendor };
  Data data_ = Data::none;
  bool agreed_ = false;
  transport::VendorCall vendor_call_;
  bool vendor_begun_ = false;
  Node* node_ = nullptr;                                  // has all ranks
  Node* part_ = nullptr;                                  // one of several nodes
  std::array<bool, collectives::kCollectives> logged_{};  // choices without a plan
  // A failure met in the data is held back for a moment: the agreement may know a better reason.
  std::optional<Error> data_error_;
  std::optional<std::chrono::steady_clock::time_point> trouble_since_;
};

}  // namespace rondo::engine
