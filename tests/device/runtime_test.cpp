#include "device/runtime.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "device/memory.hpp"
#include "device/runtime_suite.hpp"
#include "support/expect_error.hpp"

namespace rondo::device {
namespace {

std::vector<std::byte> pattern(std::size_t bytes, int seed) {
  std::vector<std::byte> values(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    values[i] = static_cast<std::byte>(i * 7 + i / 251 + seed);
  return values;
}

constexpr std::array kAllocated{MemoryKind::pinned, MemoryKind::managed, MemoryKind::device};
constexpr std::array kEveryKind{MemoryKind::host, MemoryKind::pinned, MemoryKind::managed,
                                MemoryKind::device};

TEST_P(DeviceRuntime, FindsTheKindOfMemoryFromAnyAddressInIt) {
  for (const MemoryKind kind : kAllocated) {
    const Memory memory = allocate(kind, 1000);
    EXPECT_EQ(runtime_->locate(memory.data()), (Location{kind, 0})) << name_of(kind);
    EXPECT_EQ(runtime_->locate(memory.data() + 999), (Location{kind, 0})) << name_of(kind);
  }
}

TEST_P(DeviceRuntime, TakesAllOtherMemoryForTheHosts) {
  const Memory of_host = allocate(MemoryKind::host, 8);
  const int on_stack = 0;
  static const int of_program = 0;
  for (const void* address :
       {static_cast<const void*>(of_host.data()), static_cast<const void*>(&on_stack),
        static_cast<const void*>(&of_program), static_cast<const void*>(nullptr)})
    EXPECT_EQ(runtime_->locate(address).kind, MemoryKind::host);
}

TEST_P(DeviceRuntime, ForgetsWhatWasFreed) {
  const std::byte* address = nullptr;
  {
    const Memory memory = allocate(MemoryKind::pinned, 4096);
    address = memory.data();
  }
  EXPECT_EQ(runtime_->locate(address).kind, MemoryKind::host);
}

TEST_P(DeviceRuntime, AllocatesWithAlignment) {
  for (const MemoryKind kind : kAllocated)
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{257}}) {
      const Memory memory = allocate(kind, bytes);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.data()) % 256, 0U) << name_of(kind);
    }
  EXPECT_EQ(allocate(MemoryKind::device, 0).data(), nullptr);
}

TEST_P(DeviceRuntime, RefusesADeviceThatIsNotThere) {
  const int none = runtime_->device_count();
  for (const int device : {-1, none}) {
    const std::string name = "device " + std::to_string(device);
    testing::expect_error(ErrorCode::usage, {name}, [&] { runtime_->make_stream(device); });
    testing::expect_error(ErrorCode::usage, {name}, [&] {
      runtime_->allocate({MemoryKind::device, device}, 8);
    });
  }
}

TEST_P(DeviceRuntime, CopiesBetweenAllKinds) {
  constexpr std::size_t kBytes = 100'003;
  const std::vector<std::byte> sent = pattern(kBytes, 1);
  const auto queue = stream();
  for (const MemoryKind from : kEveryKind)
    for (const MemoryKind to : kEveryKind) {
      const Memory source = allocate(from, kBytes);
      const Memory target = allocate(to, kBytes);
      std::vector<std::byte> received(kBytes);
      queue->copy(source.data(), sent.data(), kBytes);
      queue->copy(target.data(), source.data(), kBytes);
      queue->copy(received.data(), target.data(), kBytes);
      queue->synchronize();
      EXPECT_TRUE(received == sent) << name_of(from) << " to " << name_of(to);
    }
}

TEST_P(DeviceRuntime, CopiesTheBytesAskedForAndNoOther) {
  const std::vector<std::byte> before = pattern(64, 1);
  const std::vector<std::byte> sent = pattern(64, 100);
  const Memory target = allocate(MemoryKind::device, 64);
  std::vector<std::byte> expected = before;
  std::memcpy(expected.data() + 3, sent.data() + 5, 13);
  std::vector<std::byte> received(64);
  const auto queue = stream();
  queue->copy(target.data(), before.data(), 64);
  queue->copy(target.data() + 3, sent.data() + 5, 13);
  queue->copy(target.data() + 1, sent.data(), 0);
  queue->copy(received.data(), target.data(), 64);
  queue->synchronize();
  EXPECT_TRUE(received == expected);
}

TEST_P(DeviceRuntime, OrdersTwoStreamsByAnEvent) {
  constexpr std::size_t kBytes = std::size_t{1} << 20;
  const Memory source = allocate(MemoryKind::pinned, kBytes);
  const Memory between = allocate(MemoryKind::device, kBytes);
  const Memory target = allocate(MemoryKind::pinned, kBytes);
  const auto upward = stream();
  const auto downward = stream();
  const auto filled = event();
  const auto emptied = event();
  for (int round = 0; round < 10; ++round) {
    std::memset(source.data(), round, kBytes);
    downward->wait(*emptied);
    upward->wait(*emptied);
    upward->copy(between.data(), source.data(), kBytes);
    upward->record(*filled);
    downward->wait(*filled);
    downward->copy(target.data(), between.data(), kBytes);
    downward->record(*emptied);
    emptied->synchronize();
    ASSERT_EQ(target.data()[0], std::byte(round));
    ASSERT_EQ(target.data()[kBytes - 1], std::byte(round));
  }
}

TEST_P(DeviceRuntime, TellsWhenWorkIsOver) {
  const auto queue = stream();
  const auto mark = event();
  EXPECT_TRUE(mark->done()) << "never recorded";
  EXPECT_TRUE(queue->idle());
  const Memory pinned = allocate(MemoryKind::pinned, 1 << 20);
  const Memory on_device = allocate(MemoryKind::device, 1 << 20);
  std::memset(pinned.data(), 5, pinned.bytes());
  queue->copy(on_device.data(), pinned.data(), pinned.bytes());
  queue->record(*mark);
  mark->synchronize();
  EXPECT_TRUE(mark->done());
  queue->synchronize();
  EXPECT_TRUE(queue->idle());
}

TEST_P(DeviceRuntime, AStreamIsNotCapturedByItself) { EXPECT_FALSE(stream()->is_captured()); }

TEST_P(DeviceRuntime, AStreamFinishesItsWorkBeforeItGoes) {
  constexpr std::size_t kBytes = 1 << 16;
  const std::vector<std::byte> sent = pattern(kBytes, 3);
  const Memory source = allocate(MemoryKind::pinned, kBytes);
  const Memory target = allocate(MemoryKind::pinned, kBytes);
  std::memcpy(source.data(), sent.data(), kBytes);
  stream()->copy(target.data(), source.data(), kBytes);
  EXPECT_EQ(std::memcmp(target.data(), sent.data(), kBytes), 0);
}

RONDO_FOR_EACH_RUNTIME(DeviceRuntime);

}  // namespace
}  // namespace rondo::device
