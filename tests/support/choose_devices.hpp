#pragma once

#include <string>

#include <gtest/gtest.h>
#include <rondo/error.hpp>

#include "support/host_device.hpp"

namespace rondo::testing {

/// For a fixture's SetUp: `host` if `name` is "Host", else CUDA's devices; skips the test where
/// there are none.
inline void choose_devices(const std::string& name, HostDevice& host, device::Runtime*& devices) {
  devices = &host;
  if (name == "Host") return;
  devices = nullptr;
  try {
    device::Runtime& cuda = device::cuda_runtime();
    cuda.device_count();
    devices = &cuda;
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
}

}  // namespace rondo::testing
