#pragma once

#include <cstdint>
#include <memory>

#include "collectives/signature.hpp"
#include "device/group.hpp"
#include "engine/operation.hpp"
#include "engine/series.hpp"

namespace rondo::engine {

/// A collective of the devices' own under way. The ranks agree on it before any enters it: who
/// calls something else is named, and nobody waits for it inside. Resumable; never blocks, but in
/// cancel().
class GroupOperation final : public Series {
 public:
  /// Both must live as long as this.
  GroupOperation(Operation& operation, ProgramCache& programs, int ranks)
      : operation_(operation), programs_(programs), ranks_(static_cast<std::size_t>(ranks)) {}

  /// Begins to wait until all ranks have joined, which is the operation that `signature` names.
  void join(std::unique_ptr<device::Group> group, int device,
            const collectives::Signature& signature);
  /// Whether all have; then what device's memory it takes.
  bool has_joined() const { return group_ != nullptr; }
  int device() const { return device_; }

  /// Begins when `after`, which must live as long, is done.
  void start(const Call& call, const Terms& terms, std::uint64_t sequence, device::Event& after);

  /// Throws Error(nccl) and Error(cuda) too.
  bool step(std::uint64_t oldest_pending) override;
  bool progressed() const override { return stage_ == Stage::agreeing && operation_.progressed(); }
  bool waits_in_memory() const override {
    return stage_ == Stage::agreeing && operation_.waits_in_memory();
  }
  bool waits_for_device() const override { return stage_ == Stage::waiting; }
  /// Aborts what is under way on the devices.
  void cancel() override;

  std::uint64_t sequence() const override { return signature_.sequence; }
  const collectives::Signature& signature() const override { return signature_; }

 private:
  enum class Stage : std::uint8_t { waiting, joining, agreeing, moving, over };

  bool advance(std::uint64_t oldest_pending);
  device::GroupCall group_call() const;

  Operation& operation_;
  ProgramCache& programs_;
  std::size_t ranks_;
  std::unique_ptr<device::Group> group_;
  int device_ = 0;
  Call agreed_call_;
  Terms terms_;
  device::Event* after_ = nullptr;
  collectives::Signature signature_;
  Stage stage_ = Stage::over;
};

}  // namespace rondo::engine
