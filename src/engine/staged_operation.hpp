#pragma once

#include <cstdint>
#include <span>

#include "engine/operation.hpp"
#include "engine/staged_series.hpp"

namespace rondo::engine {

/// A collective on a device's memory under way: an operation for each of its parts.
class StagedOperation final : public StagedSeries {
 public:
  /// All must live as long as this.
  StagedOperation(Operation& operation, CallKind kind, ProgramCache& programs,
                  const transport::Transport& transport)
      : StagedSeries(transport.rank(), transport.size()),
        operation_(operation),
        kind_(kind),
        programs_(programs) {}

  /// Begins when `after` is done. The parts' operations have the numbers from `sequence` on.
  /// `tensors` are PartedCall's.
  void start(const Call& call, const Terms& terms, std::uint64_t sequence, device::Event& after,
             device::Staging& staging, std::span<const Buffer> tensors = {});

  std::uint64_t sequence() const override { return sequence_; }

 private:
  bool may_begin_part(std::uint64_t oldest_pending) const override;
  void begin_part(std::size_t index, const Call& part) override;
  bool step_part() override { return operation_.step(); }
  bool part_progressed() const override { return operation_.progressed(); }
  bool part_waits_in_memory() const override { return operation_.waits_in_memory(); }
  const collectives::Signature& part_signature() const override { return operation_.signature(); }
  void cancel_part() override { operation_.cancel(); }
  void go_to_next_part() override { between().sequence = ++sequence_; }

  Operation& operation_;
  CallKind kind_;
  ProgramCache& programs_;
  Terms terms_;
  std::uint64_t sequence_ = 0;
};

}  // namespace rondo::engine
