#include "device/gates.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <vector>

#include "device/runtime_suite.hpp"

namespace rondo::device {
namespace {

/// Pinned memory that a stream fills with ones, and when it has.
class DeviceGates : public DeviceRuntime {
 protected:
  void enqueue_ones(Stream& stream) {
    stream.copy(target_.data(), ones_.data(), kBytes);
    stream.record(*filled_);
  }
  bool is_filled() const { return target_.data()[kBytes - 1] == std::byte{1}; }
  void SetUp() override {
    DeviceRuntime::SetUp();
    if (IsSkipped()) return;
    ones_ = allocate(MemoryKind::pinned, kBytes);
    target_ = allocate(MemoryKind::pinned, kBytes);
    std::memset(ones_.data(), 1, kBytes);
    std::memset(target_.data(), 0, kBytes);
    filled_ = event();
  }

  static constexpr std::size_t kBytes = 4096;
  Memory ones_;
  Memory target_;
  std::unique_ptr<Event> filled_;
};

TEST_P(DeviceGates, HoldUpWhatComesLaterUntilTheyGo) {
  const auto before = event();
  const auto held_up = stream();
  held_up->record(*before);
  std::optional<Gate> gate(runtime_->gates(0).hold_up(*held_up));
  enqueue_ones(*held_up);

  before->synchronize();  // what comes earlier isn't held up
  const auto other = stream();
  other->record(*before);
  before->synchronize();  // nor another stream
  EXPECT_FALSE(filled_->done());
  EXPECT_FALSE(is_filled());
  gate.reset();
  filled_->synchronize();
  EXPECT_TRUE(is_filled());
}

TEST_P(DeviceGates, AStreamThatComesLateFindsThemOpen) {
  Gates& gates = runtime_->gates(0);
  const auto first = stream();
  const auto second = stream();
  std::optional<Gate> before(gates.hold_up(*first));
  { const Gate gone = gates.hold_up(*first); }
  const Gate again = gates.hold_up(*second);  // the same word, perhaps
  enqueue_ones(*first);
  before.reset();
  filled_->synchronize();
  EXPECT_TRUE(is_filled());
}

TEST_P(DeviceGates, AreUsedAgain) {
  Gates& gates = runtime_->gates(0);
  const auto held_up = stream();
  std::vector<Gate> all;
  all.push_back(gates.hold_up(*held_up));
  const std::size_t size = gates.size();
  while (all.size() < size) all.push_back(gates.hold_up(*held_up));
  EXPECT_EQ(gates.size(), size);
  all.clear();
  while (all.size() < size) all.push_back(gates.hold_up(*held_up));
  EXPECT_EQ(gates.size(), size);
  all.push_back(gates.hold_up(*held_up));
  EXPECT_GT(gates.size(), size);
  all.clear();
  enqueue_ones(*held_up);
  held_up->synchronize();
  EXPECT_TRUE(is_filled());
}

RONDO_FOR_EACH_RUNTIME(DeviceGates);

}  // namespace
}  // namespace rondo::device
