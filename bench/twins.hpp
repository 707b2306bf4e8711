#pragma once

#include <cstddef>
#include <memory>

#include "device/memory.hpp"
#include "device/runtime.hpp"

namespace rondo::bench {

/// For buffers in the memory of a device: an input and an output on the host, where they are
/// written and checked.
class Twins {
 public:
  /// Throws Error(cuda).
  Twins(device::Runtime& devices, int device, std::size_t bytes)
      : stream_(devices.make_stream(device)),
        input_(devices, {device::MemoryKind::pinned, device}, bytes),
        output_(devices, {device::MemoryKind::pinned, device}, bytes) {}

  std::byte* input() const { return input_.data(); }
  std::byte* output() const { return output_.data(); }

  /// Copies the first bytes of both to the device, and back. Throws Error(cuda).
  void send(std::byte* input, std::byte* output, std::size_t bytes) const {
    stream_->copy(input, input_.data(), bytes);
    stream_->copy(output, output_.data(), bytes);
    stream_->synchronize();
  }
  void fetch(const std::byte* input, const std::byte* output, std::size_t bytes) const {
    stream_->copy(input_.data(), input, bytes);
    stream_->copy(output_.data(), output, bytes);
    stream_->synchronize();
  }

 private:
  std::unique_ptr<device::Stream> stream_;
  device::Memory input_;
  device::Memory output_;
};

}  // namespace rondo::bench
