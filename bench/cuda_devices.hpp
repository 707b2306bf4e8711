#pragma once

#include <rondo/error.hpp>

#include "device/runtime.hpp"

namespace rondo::bench {

/// How many CUDA devices there are, one at least. Throws Error(cuda) saying what is missing.
inline int cuda_devices() {
  const int devices = device::cuda_runtime().device_count();
  if (devices == 0)
    throw Error(ErrorCode::cuda,
                "this machine has no CUDA device that the program may use; look at nvidia-smi and "
                "CUDA_VISIBLE_DEVICES");
  return devices;
}

}  // namespace rondo::bench
