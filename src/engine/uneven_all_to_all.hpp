#pragma once

#include <cstdint>
#include <vector>

#include "engine/operation.hpp"
#include "engine/series.hpp"

namespace rondo::engine {

/// An all-to-all of blocks whose sizes are known to their sender and receiver alone: the sizes
/// travel first, as one operation, and are compared; then the blocks do.
class UnevenAllToAll final : public Series {
 public:
  static constexpr std::uint64_t kOperations = 2;

  /// All must live as long as this.
  UnevenAllToAll(Operation& operation, ProgramCache& programs,
                 const transport::Transport& transport)
      : operation_(operation), programs_(programs), transport_(transport) {}

  /// What the call refers to must live until it is done. The operations have the numbers from
  /// `sequence` on.
  void start(const Call& call, const Terms& terms, std::uint64_t sequence);

  bool step(std::uint64_t oldest_pending) override;
  bool progressed() const override { return progressed_; }
  bool waits_in_memory() const override { return running_ && operation_.waits_in_memory(); }
  void cancel() override;
  std::uint64_t sequence() const override { return sequence_; }
  const collectives::Signature& signature() const override { return operation_.signature(); }

 private:
  void begin();
  void compare_sizes() const;

  Operation& operation_;
  ProgramCache& programs_;
  const transport::Transport& transport_;
  Call call_{};
  Terms terms_;
  // Of the blocks that go from this rank, and that come to it.
  std::vector<std::uint64_t> going_;
  std::vector<std::uint64_t> coming_;
  std::uint64_t sequence_ = 0;
  bool know_sizes_ = false;
  bool running_ = false;
  bool progressed_ = false;
};

}  // namespace rondo::engine
