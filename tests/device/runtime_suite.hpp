#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "device/memory.hpp"
#include "device/runtime.hpp"
#include "support/choose_devices.hpp"
#include "support/host_device.hpp"

namespace rondo::device {

/// What every implementation of the interface must do.
class DeviceRuntime : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    host_.dawdle();
    testing::choose_devices(GetParam(), host_, runtime_);
  }

  Memory allocate(MemoryKind kind, std::size_t bytes) { return {*runtime_, {kind, 0}, bytes}; }
  std::unique_ptr<Stream> stream() { return runtime_->make_stream(0); }
  std::unique_ptr<Event> event() { return runtime_->make_event(0); }

  testing::HostDevice host_;
  Runtime* runtime_ = nullptr;
};

/// Runs each test on the host's implementation, and on CUDA where there is a device.
#define RONDO_FOR_EACH_RUNTIME(test)                                               \
  INSTANTIATE_TEST_SUITE_P(Host, test, ::testing::Values("Host"),                  \
                           [](const auto& parameter) { return parameter.param; }); \
  INSTANTIATE_TEST_SUITE_P(Cuda, test, ::testing::Values("Cuda"),                  \
                           [](const auto& parameter) { return parameter.param; })

}  // namespace rondo::device
