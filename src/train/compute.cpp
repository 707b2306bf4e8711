#include <rondo/train/compute.hpp>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <vector>

#include <fmt/core.h>

#include "core/log.hpp"
#include "train/compute_device.hpp"

namespace rondo::train {

namespace {
constexpr std::align_val_t kAlignment{64};  // no element vector straddles two cache lines
}

Compute::Compute() = default;
Compute::~Compute() = default;

Compute::Compute(device::Runtime& runtime, int device)
    : device_(
          std::make_unique<Device>(Device{runtime, device, runtime.wrap_stream(device, nullptr)})) {
}

Compute& Compute::host() {
  static Compute host;
  return host;
}

/// Never destroyed: tensors of static lifetime may still use it.
Compute& Compute::cuda(int device) {
  static std::mutex mutex;
  static auto& all = *new std::map<int, std::unique_ptr<Compute>>;
  const std::lock_guard lock(mutex);
  std::unique_ptr<Compute>& compute = all[device];
  if (compute == nullptr) compute = std::make_unique<Compute>(device::cuda_runtime(), device);
  return *compute;
}

int Compute::cuda_devices() { return device::cuda_runtime().device_count(); }

void* Compute::allocate(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  if (on_host()) return ::operator new(bytes, kAlignment);
  return device_->runtime.allocate(device_->memory(), bytes);
}

void Compute::free(void* memory, std::size_t /*bytes*/) noexcept {
  if (memory == nullptr) return;
  if (on_host()) return ::operator delete(memory, kAlignment);
  try {
    device_->stream->synchronize();
  } catch (const Error& error) {
    core::log(core::LogLevel::info, error.what());
  }
  device_->runtime.free(device_->memory(), memory);
}

void Compute::copy(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  if (on_host()) {
    std::memcpy(to, from, bytes);
    return;
  }
  device_->stream->copy(to, from, bytes);
  device_->stream->synchronize();
}

double Compute::Device::sum(device::Job job, std::span<device::Job::Array> arrays) {
  const std::size_t bytes = job.count * sizeof(double);
  if (terms.bytes() < bytes) terms = device::Memory(runtime, memory(), bytes);
  arrays[0] = {terms.data(), bytes};
  job.arrays = arrays;
  stream->run(job);
  std::vector<double> fetched(job.count);
  stream->copy(fetched.data(), terms.data(), bytes);
  stream->synchronize();
  double sum = 0.0;
  for (const double term : fetched) sum += term;
  return sum;
}

}  // namespace rondo::train
