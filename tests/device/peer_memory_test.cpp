#include "device/peer_memory.hpp"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <vector>

#include "device/memory.hpp"
#include "support/expect_error.hpp"
#include "support/host_device.hpp"

namespace rondo::device {
namespace {

/// Rank 0 shares, rank 1 opens; as ranks on device 0.
class PeerMemoryTest : public ::testing::Test {
 protected:
  Memory allocate(std::size_t bytes = 64) { return {runtime_, {MemoryKind::device, 0}, bytes}; }
  /// Whether rank 1 has to open something for a call of rank 0 on `input`.
  bool take(const void* input, int device_of_1 = 0) {
    const std::array offers{shared_.offer(runtime_, 0, input, nullptr),
                            of_1_.offer(runtime_, device_of_1, nullptr, nullptr)};
    return opened_->take(runtime_, offers);
  }
  void expect_opened(const Memory& memory, std::size_t offset = 0) {
    const int sent = ++written_;
    int received = 0;
    const auto stream = runtime_.make_stream(0);
    stream->copy(memory.data() + offset, &sent, sizeof sent);
    stream->copy(&received, opened_->input_of(0), sizeof received);
    stream->synchronize();
    EXPECT_EQ(received, sent);
  }

  testing::HostDevice runtime_{2};
  SharedAllocations shared_;
  SharedAllocations of_1_;
  std::optional<PeerMemory> opened_{1};
  int written_ = 0;
};

TEST_F(PeerMemoryTest, OpensAnAllocationOnceWhateverIsUsedOfIt) {
  const Memory memory = allocate();
  EXPECT_TRUE(take(memory.data()));
  opened_->open();
  expect_opened(memory);
  EXPECT_FALSE(take(memory.data() + 16));
  expect_opened(memory, 16);
  EXPECT_EQ(opened_->output_of(0), nullptr);
  EXPECT_EQ(opened_->input_of(1), nullptr);
  EXPECT_EQ(runtime_.allocations(), 2U);
}

TEST_F(PeerMemoryTest, FindsAnAllocationInTheFormerPlaceOfAnother) {
  std::optional<Memory> memory(allocate());
  const void* const place = memory->data();
  take(place);
  opened_->open();
  memory.reset();
  memory.emplace(allocate());
  EXPECT_TRUE(take(memory->data())) << (memory->data() == place);
  opened_->open();
  expect_opened(*memory);
}

TEST_F(PeerMemoryTest, ClosesWhatItsOwnerHasFreed) {
  const Memory kept = allocate();
  {
    const Memory freed = allocate();
    take(freed.data());
    opened_->open();
  }
  EXPECT_TRUE(take(kept.data()));
  EXPECT_EQ(runtime_.allocations(), 2U) << "closing may wait, so it has its time";
  opened_->close_past();
  EXPECT_EQ(runtime_.allocations(), 1U);
}

TEST_F(PeerMemoryTest, KeepsFewOpen) {
  std::vector<Memory> memories;
  for (std::size_t i = 0; i < 3 * SharedAllocations::kMost; ++i) {
    memories.push_back(allocate());
    EXPECT_TRUE(take(memories.back().data()));
    opened_->open();
    expect_opened(memories.back());
    opened_->close_past();
    EXPECT_LE(runtime_.allocations(), memories.size() + SharedAllocations::kMost);
  }
}

TEST_F(PeerMemoryTest, OpensAgainForAnotherDevice) {
  const Memory memory = allocate();
  EXPECT_TRUE(take(memory.data()));
  opened_->open();
  EXPECT_FALSE(take(memory.data()));
  EXPECT_TRUE(take(memory.data(), 1));
  opened_->open();
  expect_opened(memory);
  EXPECT_FALSE(take(memory.data(), 1));
}

TEST_F(PeerMemoryTest, ClosesEverythingInTheEnd) {
  const Memory memory = allocate();
  take(memory.data());
  opened_->open();
  EXPECT_EQ(runtime_.allocations(), 2U);
  opened_.reset();
  EXPECT_EQ(runtime_.allocations(), 1U);
}

TEST_F(PeerMemoryTest, SaysWhatCanNotBeShared) {
  const Memory memory = allocate();
  const Memory other = allocate();
  EXPECT_EQ(shared_.offer(runtime_, 0, memory.data(), other.data()).reachable, 1);
  const Memory pooled = allocate();
  runtime_.keep_private(pooled.data());
  EXPECT_EQ(shared_.offer(runtime_, 0, pooled.data(), memory.data()).reachable, 0);
  EXPECT_EQ(shared_.offer(runtime_, 0, memory.data(), pooled.data()).reachable, 0);
}

TEST_F(PeerMemoryTest, PassesOnThatOpeningFailed) {
  const Memory memory = allocate();
  EXPECT_TRUE(take(memory.data()));
  runtime_.fail_open(0);
  testing::expect_error(ErrorCode::cuda, {"injected"}, [&] { opened_->open(); });
}

}  // namespace
}  // namespace rondo::device
