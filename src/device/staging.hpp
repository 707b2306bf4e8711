#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>

#include "device/memory.hpp"
#include "device/runtime.hpp"

namespace rondo::device {

/// Device memory worked on by the host: a chunk after the other comes into pinned memory, is worked
/// on there, and goes back.
///
///   chunk       c+1          c          c-1
///   doing    coming down   work on    going up
///
/// Each has a buffer of its own, so that all three go on at once.
class Staging {
 public:
  /// A multiple of every element's size.
  static constexpr std::size_t kChunkBytes = std::size_t{4} << 20;

  /// Allocates the buffers. Throws Error(cuda) where there is no memory.
  Staging(Runtime& runtime, int device, std::size_t chunk_bytes = kChunkBytes);
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  /// A piece of the whole, `bytes` from byte `offset` on, in pinned memory.
  struct Chunk {
    std::byte* data;
    std::size_t offset;
    std::size_t bytes;
  };
  using Work = std::function<void(const Chunk&)>;

  /// Calls `work` for each chunk of `input`, in order, and brings what it leaves there to `output`.
  /// Begins after what was enqueued in the device's default stream; returns, or throws, when no
  /// copy is under way any more. Throws what `work` throws, or Error(cuda).
  void run(const void* input, void* output, std::size_t bytes, const Work& work);

  const Runtime& runtime() const { return runtime_; }
  int device() const { return device_; }

 private:
  struct Slot {
    Memory memory;
    std::unique_ptr<Event> filled;
    std::unique_ptr<Event> emptied;
  };
  struct Job {
    const std::byte* input;
    std::byte* output;
    std::size_t bytes;
  };

  void run(const Job& job, const Work& work);
  Chunk chunk(const Job& job, std::size_t index);
  Slot& slot(std::size_t index) { return slots_[index % slots_.size()]; }
  void bring_down(const Job& job, std::size_t index);
  void bring_up(const Job& job, std::size_t index);
  void stop() noexcept;

  Runtime& runtime_;
  int device_;
  std::size_t chunk_bytes_;
  std::array<Slot, 3> slots_;
  std::unique_ptr<Stream> down_;  // last, so that they are idle when the memory goes
  std::unique_ptr<Stream> up_;
};

}  // namespace rondo::device
