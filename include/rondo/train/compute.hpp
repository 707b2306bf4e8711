#pragma once

#include <cstddef>
#include <memory>

namespace rondo::device {
class Runtime;
}

namespace rondo::train {

/// Where tensors lie and layers compute: the host, or a device. The host computes at once; what a
/// device is asked to do is enqueued and done in order, and only what brings results to the host
/// waits. Outlives all tensors in it. One thread uses it at a time.
///
/// Errors of a device are Error(cuda), and may come late: from a later call.
class Compute {
 public:
  /// Ordinary memory and the calling thread; any number of threads may use it.
  static Compute& host();
  /// A CUDA device, in its default stream: so a collective on its memory begins when what was
  /// enqueued before is over. Throws Error(cuda) saying what is missing where there is no such
  /// device, or Rondo was built without CUDA.
  static Compute& cuda(int device = 0);
  /// How many there are, at least one. Throws likewise.
  static int cuda_devices();
  /// A device of `runtime`, which outlives this.
  Compute(device::Runtime& runtime, int device);
  Compute(const Compute&) = delete;
  Compute& operator=(const Compute&) = delete;
  ~Compute();

  bool on_host() const { return device_ == nullptr; }

  /// Copies between memory of this place and of the host, either way or within it, once what was
  /// enqueued is done; waits.
  void copy(void* to, const void* from, std::size_t bytes);

  /// 64-byte aligned memory of unspecified contents; null for 0 bytes. Throws std::bad_alloc, or
  /// Error(cuda).
  void* allocate(std::size_t bytes);
  /// What allocate(bytes) gave, once what was enqueued is done.
  void free(void* memory, std::size_t bytes) noexcept;

  struct Device;
  /// Null on the host.
  Device* device() const { return device_.get(); }

 private:
  Compute();

  std::unique_ptr<Device> device_;
};

}  // namespace rondo::train
