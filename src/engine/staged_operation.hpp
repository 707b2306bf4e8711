#pragma once

#include <cstdint>
#include <span>

#include "collectives/signature.hpp"
#include "device/staging.hpp"
#include "engine/operation.hpp"
#include "engine/parted_call.hpp"
#include "engine/series.hpp"

namespace rondo::engine {

/// A collective on a device's memory under way: an operation for each of its parts, while those
/// before and behind travel between device and host. Resumable; never blocks, but in cancel().
class StagedOperation final : public Series {
 public:
  /// All must live as long as this.
  StagedOperation(Operation& operation, CallKind kind, ProgramCache& programs,
                  const transport::Transport& transport)
      : operation_(operation),
        kind_(kind),
        programs_(programs),
        call_(transport.rank(), transport.size()) {}

  /// Begins when `after` is done. `tensors` are PartedCall's. The parts' operations have the
  /// numbers from `sequence` on.
  void start(const Call& call, const Terms& terms, std::uint64_t sequence, device::Event& after,
             device::Staging& staging, std::span<const Buffer> tensors = {});

  /// Throws Error(cuda) too.
  bool step(std::uint64_t oldest_pending) override;
  bool progressed() const override { return progressed_; }
  bool waits_in_memory() const override {
    return stage_ == Stage::working && operation_.waits_in_memory();
  }
  bool waits_for_device() const override { return stage_ == Stage::waiting; }
  void cancel() override;

  /// How many operations.
  std::size_t parts() const { return call_.parts(); }
  std::uint64_t sequence() const override { return sequence_; }
  const collectives::Signature& signature() const override {
    return stage_ == Stage::working ? operation_.signature() : between_;
  }

 private:
  enum class Stage : std::uint8_t { waiting, coming_down, working, going_up, over };

  bool advance(std::uint64_t oldest_pending);
  bool begin_part(std::uint64_t oldest_pending);
  bool end_part();

  Operation& operation_;
  CallKind kind_;
  ProgramCache& programs_;
  PartedCall call_;
  Terms terms_;
  collectives::Signature between_;  // where no operation is under way
  std::uint64_t sequence_ = 0;
  device::Event* after_ = nullptr;
  device::Staging* staging_ = nullptr;
  Stage stage_ = Stage::over;
  bool progressed_ = false;
};

}  // namespace rondo::engine
