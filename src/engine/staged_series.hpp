#pragma once

#include <cstdint>
#include <span>

#include "collectives/signature.hpp"
#include "device/staging.hpp"
#include "engine/parted_call.hpp"
#include "engine/series.hpp"

namespace rondo::engine {

/// A call on a device's memory under way: the host works on one part after the other, while those
/// before and behind travel between device and host. Resumable; never blocks, but in cancel().
class StagedSeries : public Series {
 public:
  /// Throws Error(cuda) too.
  bool step(std::uint64_t oldest_pending) final;
  bool progressed() const final { return progressed_; }
  bool waits_in_memory() const final { return stage_ == Stage::working && part_waits_in_memory(); }
  bool waits_for_device() const final { return stage_ == Stage::waiting; }
  void cancel() final;

  std::size_t parts() const { return call_.parts(); }
  const collectives::Signature& signature() const final {
    return stage_ == Stage::working ? part_signature() : between_;
  }

 protected:
  StagedSeries(Rank rank, int size) : call_(rank, size) {}

  /// Begins when `after` is done.
  void start(const Call& call, device::Event& after, device::Staging& staging,
             std::span<const Buffer> tensors);
  /// Of the call where no part is worked on.
  collectives::Signature& between() { return between_; }

  virtual bool may_begin_part(std::uint64_t oldest_pending) const = 0;
  virtual void begin_part(std::size_t index, const Call& part) = 0;
  /// True when done.
  virtual bool step_part() = 0;
  virtual bool part_progressed() const = 0;
  virtual bool part_waits_in_memory() const = 0;
  virtual const collectives::Signature& part_signature() const = 0;
  virtual void cancel_part() = 0;
  /// One is over, and it isn't the last.
  virtual void go_to_next_part() {}

 private:
  enum class Stage : std::uint8_t { waiting, coming_down, working, going_up, over };

  bool advance(std::uint64_t oldest_pending);
  bool begin_next_part(std::uint64_t oldest_pending);
  bool end_part();

  PartedCall call_;
  collectives::Signature between_;
  device::Event* after_ = nullptr;
  device::Staging* staging_ = nullptr;
  Stage stage_ = Stage::over;
  bool progressed_ = false;
};

}  // namespace rondo::engine
