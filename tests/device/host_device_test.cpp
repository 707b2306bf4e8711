#include "support/host_device.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <vector>

#include "device/memory.hpp"
#include "support/expect_error.hpp"

namespace rondo::testing {
namespace {

using device::Memory;
using device::MemoryKind;

/// Whether the process itself may read a byte: the kernel reads it, and reports what would fault.
bool host_can_read(const void* address) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) throw Error(ErrorCode::system, "no pipe");
  const bool can = write(ends[1], address, 1) == 1;
  EXPECT_TRUE(can || errno == EFAULT);
  for (const int end : ends) close(end);
  return can;
}

TEST(HostDevice, KeepsTheHostFromDeviceMemoryAlone) {
  HostDevice runtime;
  for (const MemoryKind kind :
       {MemoryKind::host, MemoryKind::pinned, MemoryKind::managed, MemoryKind::device}) {
    const Memory memory(runtime, {kind, 0}, 100);
    EXPECT_EQ(host_can_read(memory.data()), kind != MemoryKind::device) << name_of(kind);
  }
}

TEST(HostDevice, FailsTheAllocationThatIsToFail) {
  HostDevice runtime;
  runtime.fail_allocation(1);
  const Memory first(runtime, {MemoryKind::device, 0}, 8);
  expect_error(ErrorCode::cuda, {"64 bytes of pinned memory on device 0", "injected"}, [&] {
    const Memory second(runtime, {MemoryKind::pinned, 0}, 64);
  });
  const Memory third(runtime, {MemoryKind::device, 0}, 8);
}

TEST(HostDevice, ACopyThatFailsShowsLateAndStopsItsStream) {
  HostDevice runtime;
  const Memory memory(runtime, {MemoryKind::device, 0}, 8);
  const std::array<int, 2> ones{1, 1};
  const std::array<int, 2> twos{2, 2};
  std::array<int, 2> result{};
  const auto stream = runtime.make_stream(0);
  const auto event = runtime.make_event(0);
  stream->copy(memory.data(), ones.data(), 8);
  stream->synchronize();

  runtime.fail_copy(0);
  stream->copy(memory.data(), twos.data(), 8);
  stream->copy(memory.data(), twos.data(), 8);
  stream->record(*event);
  expect_error(ErrorCode::cuda, {"injected"}, [&] { event->synchronize(); });
  expect_error(ErrorCode::cuda, {"injected"}, [&] { stream->synchronize(); });
  expect_error(ErrorCode::cuda, {"injected"}, [&] { stream->idle(); });

  const auto other = runtime.make_stream(0);
  other->copy(result.data(), memory.data(), 8);
  other->synchronize();
  EXPECT_EQ(result, ones);
}

TEST(HostDevice, WhatIsOpenStaysAfterItsOwnerHasFreedIt) {
  HostDevice runtime;
  const auto stream = runtime.make_stream(0);
  device::SharedAllocation allocation;
  void* opened = nullptr;
  const int sent = 7;
  int received = 0;
  {
    const Memory memory(runtime, {MemoryKind::device, 0}, sizeof sent);
    allocation = runtime.share(memory.data())->allocation;
    opened = runtime.open(allocation, 0);
    EXPECT_NE(opened, memory.data());
    EXPECT_FALSE(host_can_read(opened));
    stream->copy(memory.data(), &sent, sizeof sent);
    stream->synchronize();
  }
  stream->copy(&received, opened, sizeof received);
  stream->synchronize();
  EXPECT_EQ(received, sent);
  expect_error(ErrorCode::cuda, {"was freed"}, [&] { runtime.open(allocation, 0); });
  runtime.close(allocation, 0, opened);
  EXPECT_EQ(runtime.allocations(), 0U);
}

TEST(HostDevice, RefusesWhatItIsToldToInSharing) {
  HostDevice runtime;
  const Memory memory(runtime, {MemoryKind::device, 0}, 8);
  const auto shared = runtime.share(memory.data());
  runtime.fail_open(0);
  expect_error(ErrorCode::cuda, {"injected"}, [&] { runtime.open(shared->allocation, 0); });
  runtime.keep_private(memory.data());
  EXPECT_FALSE(runtime.share(memory.data()));
}

TEST(HostDevice, AFailureReachesTheStreamsThatWaitForIt) {
  HostDevice runtime;
  const Memory memory(runtime, {MemoryKind::device, 0}, 8);
  std::array<int, 2> result{};
  const auto first = runtime.make_stream(0);
  const auto second = runtime.make_stream(0);
  const auto event = runtime.make_event(0);
  runtime.fail_copy(0);
  first->copy(memory.data(), result.data(), 8);
  first->record(*event);
  second->wait(*event);
  second->copy(result.data(), memory.data(), 8);
  expect_error(ErrorCode::cuda, {"injected"}, [&] { second->synchronize(); });
}

TEST(HostDevice, RefusesCopiesBeyondTheMemory) {
  HostDevice runtime;
  const Memory memory(runtime, {MemoryKind::device, 0}, 100);
  std::vector<std::byte> target(101);
  const auto stream = runtime.make_stream(0);
  stream->copy(target.data(), memory.data() + 1, 100);
  expect_error(ErrorCode::cuda, {"illegal address", "100 bytes from byte 1 of 100 bytes"},
               [&] { stream->synchronize(); });
}

TEST(HostDevice, CountsWhatWasNotFreed) {
  HostDevice runtime;
  {
    const Memory memory(runtime, {MemoryKind::device, 0}, 8);
    EXPECT_EQ(runtime.allocations(), 1U);
  }
  EXPECT_EQ(runtime.allocations(), 0U);
}

}  // namespace
}  // namespace rondo::testing
