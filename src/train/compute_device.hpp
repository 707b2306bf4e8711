#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include <rondo/train/compute.hpp>

#include "device/memory.hpp"
#include "device/runtime.hpp"

namespace rondo::train {

/// What a Compute has of a device.
struct Compute::Device {
  device::Runtime& runtime;
  int number;
  std::unique_ptr<device::Stream> stream;
  device::Memory terms{};  // of sums, on the device

  device::Location memory() const { return {device::MemoryKind::device, number}; }
  /// The sum, in order, of a job that writes `count` terms into its first array, whose place is
  /// left open.
  double sum(device::Job job, std::span<device::Job::Array> arrays);
};

}  // namespace rondo::train
