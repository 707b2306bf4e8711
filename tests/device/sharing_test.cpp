#include <gtest/gtest.h>

#include <array>
#include <optional>

#include "device/memory.hpp"
#include "device/runtime_suite.hpp"
#include "support/expect_error.hpp"

// How ranks come to reach each other's device memory.
namespace rondo::device {
namespace {

class DeviceSharing : public DeviceRuntime {};

TEST_P(DeviceSharing, SharesDeviceMemoryFromAnyAddressInIt) {
  const Memory memory = allocate(MemoryKind::device, 1000);
  const std::array<int, 2> sent{3, 4};
  std::array<int, 2> received{};
  const auto queue = stream();
  queue->copy(memory.data() + 96, sent.data(), sizeof sent);
  queue->synchronize();

  const std::optional<SharedAddress> shared = runtime_->share(memory.data() + 96);
  ASSERT_TRUE(shared);
  auto* const opened = static_cast<std::byte*>(runtime_->open(shared->allocation, 0));
  queue->copy(received.data(), opened + shared->offset, sizeof received);
  queue->synchronize();
  runtime_->close(shared->allocation, 0, opened);
  EXPECT_EQ(received, sent);
  EXPECT_EQ(shared->allocation.number, runtime_->allocation_at(memory.data()));
}

TEST_P(DeviceSharing, SharesNoOtherKindOfMemory) {
  for (const MemoryKind kind : {MemoryKind::host, MemoryKind::pinned, MemoryKind::managed})
    EXPECT_FALSE(runtime_->share(allocate(kind, 64).data())) << name_of(kind);
  EXPECT_FALSE(runtime_->share(nullptr));
}

TEST_P(DeviceSharing, TellsAnAllocationFromALaterOneInItsPlace) {
  std::uint64_t before = 0;
  const void* place = nullptr;
  {
    const Memory memory = allocate(MemoryKind::device, 4096);
    place = memory.data();
    before = runtime_->allocation_at(place);
  }
  EXPECT_NE(before, 0U);
  EXPECT_NE(runtime_->allocation_at(place), before);
  const Memory memory = allocate(MemoryKind::device, 4096);
  EXPECT_NE(runtime_->allocation_at(memory.data()), before);
  EXPECT_EQ(runtime_->allocation_at(nullptr), 0U);
}

RONDO_FOR_EACH_RUNTIME(DeviceSharing);

}  // namespace
}  // namespace rondo::device
