#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "device/memory.hpp"
#include "device/runtime.hpp"

namespace rondo::device {

/// Some of a device's memory, and where it has its place in the pinned memory of a part.
struct Piece {
  std::byte* on_device;
  std::size_t offset;  // bytes
  std::size_t bytes;
};

/// Work on device memory, cut into parts that fit into pinned memory.
class StagedParts {
 public:
  virtual ~StagedParts() = default;
  virtual std::size_t parts() const = 0;
  /// Appends what comes down for a part, and what goes up after it. Different parts touch
  /// different memory, unless both only read it.
  virtual void list_down(std::size_t part, std::vector<Piece>& pieces) const = 0;
  virtual void list_up(std::size_t part, std::vector<Piece>& pieces) const = 0;
};

/// Device memory worked on by the host: a part after the other comes into pinned memory, is worked
/// on there, and goes back.
///
///   part       p+1           p          p-1
///   doing   coming down   worked on   going up
///
/// Each has a buffer of its own, so that all three go on at once. Nothing here waits but stop().
class Staging {
 public:
  /// Allocates the buffers. Throws Error(cuda) where there is no memory.
  Staging(Runtime& runtime, int device, std::size_t part_bytes);
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  // All of these throw Error(cuda) for copies that failed.

  /// Begins to bring down the first parts. `parts` stays until is_over() or stop().
  void begin(const StagedParts& parts);
  /// Whether a part is left that wasn't worked on: the next one.
  bool has_next() const { return next_ < parts_->parts(); }
  /// Its number.
  std::size_t next() const { return next_; }
  /// Whether it has come down.
  bool is_down();
  /// Where it lies then.
  std::byte* memory() { return slot(next_).memory.data(); }
  /// It was worked on: begins to bring it up.
  void bring_up();
  /// Whether all parts are up.
  bool is_over();

  /// After a failure: returns when nothing reads or writes the device's memory any more.
  void stop() noexcept;

  const Runtime& runtime() const { return runtime_; }
  int device() const { return device_; }
  std::size_t part_bytes() const { return part_bytes_; }

 private:
  struct Slot {
    Memory memory;
    std::unique_ptr<Event> filled;
    std::unique_ptr<Event> emptied;
  };

  Slot& slot(std::size_t part) { return slots_[part % slots_.size()]; }
  void bring_down(std::size_t part);

  Runtime& runtime_;
  int device_;
  std::size_t part_bytes_;
  const StagedParts* parts_ = nullptr;
  std::size_t next_ = 0;
  std::vector<Piece> pieces_;
  std::array<Slot, 3> slots_;
  std::unique_ptr<Stream> down_;  // last, so that they are idle when the memory goes
  std::unique_ptr<Stream> up_;
};

}  // namespace rondo::device
