#include "device/staging.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <thread>
#include <vector>

#include "support/expect_error.hpp"
#include "support/host_device.hpp"

namespace rondo::device {
namespace {

using testing::expect_error;
using testing::HostDevice;

constexpr std::size_t kChunk = 64;

/// Memory in parts of kChunk bytes, each as two pieces that change places in pinned memory.
class Halves : public StagedParts {
 public:
  Halves(const Memory& input, const Memory& output) : input_(input), output_(output) {}

  std::size_t parts() const override { return (input_.bytes() + kChunk - 1) / kChunk; }
  std::size_t bytes(std::size_t part) const {
    return std::min(kChunk, input_.bytes() - part * kChunk);
  }
  void list_down(std::size_t part, std::vector<Piece>& pieces) const override {
    list(input_, part, pieces);
  }
  void list_up(std::size_t part, std::vector<Piece>& pieces) const override {
    list(output_, part, pieces);
  }

 private:
  void list(const Memory& memory, std::size_t part, std::vector<Piece>& pieces) const {
    const std::size_t half = bytes(part) / 2;
    std::byte* const begin = memory.data() + part * kChunk;
    pieces.push_back({begin + half, 0, bytes(part) - half});
    pieces.push_back({begin, bytes(part) - half, half});
  }

  const Memory& input_;
  const Memory& output_;
};

/// Numbers in device memory that staging works on.
struct Stage {
  HostDevice device;
  Memory input;
  Memory output;
  Staging staging{device, 0, kChunk};

  explicit Stage(std::size_t bytes)
      : input(device, {MemoryKind::device, 0}, bytes),
        output(device, {MemoryKind::device, 0}, bytes) {
    device.dawdle();
    std::vector<std::byte> values(bytes);
    for (std::size_t i = 0; i < bytes; ++i) values[i] = std::byte(i * 7 + i / 64);
    const auto stream = device.make_stream(0);
    stream->copy(input.data(), values.data(), bytes);
    stream->synchronize();
  }

  /// Brings every part down, has `work` done on it, and brings it up.
  template <class Work>
  void run(const Memory& from, const Memory& to, Work work) {
    const Halves halves(from, to);
    staging.begin(halves);
    while (staging.has_next()) {
      while (!staging.is_down()) std::this_thread::yield();
      work(std::span(staging.memory(), halves.bytes(staging.next())));
      staging.bring_up();
    }
    while (!staging.is_over()) std::this_thread::yield();
  }

  std::vector<std::byte> read(const Memory& memory) {
    std::vector<std::byte> values(memory.bytes());
    const auto stream = device.make_stream(0);
    stream->copy(values.data(), memory.data(), memory.bytes());
    stream->synchronize();
    return values;
  }
};

void invert(std::span<std::byte> part) {
  for (std::byte& byte : part) byte = ~byte;
}

TEST(Staging, WorksOnEveryByteOnceWhateverTheSize) {
  for (const std::size_t bytes : {1UL, 63UL, 64UL, 65UL, 128UL, 192UL, 193UL, 6405UL, 6404UL}) {
    Stage stage(bytes);
    const std::vector<std::byte> before = stage.read(stage.input);
    std::vector<std::byte> expected = before;
    for (std::byte& value : expected) value = ~value;

    stage.run(stage.input, stage.output, invert);
    EXPECT_TRUE(stage.read(stage.output) == expected) << bytes;
    EXPECT_TRUE(stage.read(stage.input) == before) << bytes;

    stage.run(stage.output, stage.output, invert);
    EXPECT_TRUE(stage.read(stage.output) == before) << bytes << " in place";
  }
}

TEST(Staging, GivesPinnedMemoryPartByPart) {
  Stage stage(3 * kChunk + 5);
  std::vector<std::size_t> sizes;
  stage.run(stage.input, stage.output, [&](std::span<std::byte> part) {
    EXPECT_EQ(stage.device.locate(part.data()).kind, MemoryKind::pinned);
    sizes.push_back(part.size());
  });
  EXPECT_EQ(sizes, (std::vector<std::size_t>{64, 64, 64, 5}));
}

TEST(Staging, NothingIsNoWork) {
  Stage stage(8);
  const Memory nothing;
  stage.run(nothing, nothing, [](std::span<std::byte>) { FAIL(); });
}

TEST(Staging, ReportsWhicheverCopyFails) {
  constexpr std::size_t kChunks = 5;
  for (int copy = 0; copy < static_cast<int>(4 * kChunks); ++copy) {
    Stage stage(kChunks * kChunk);
    stage.device.fail_copy(copy);
    expect_error(ErrorCode::cuda, {"injected"},
                 [&] { stage.run(stage.input, stage.output, invert); });
  }
}

TEST(Staging, LeavesTheMemoryAloneOnceItHasStopped) {
  Stage stage(8 * kChunk);
  int parts = 0;
  EXPECT_THROW(stage.run(stage.input, stage.output,
                         [&](std::span<std::byte>) {
                           if (++parts == 3) throw std::runtime_error("work failed");
                         }),
               std::runtime_error);
  stage.staging.stop();
  // A copy that is still under way would find its memory gone, and fail its stream.
  stage.input = Memory();
  stage.output = Memory(stage.device, {MemoryKind::device, 0}, kChunk);
  const Memory other(stage.device, {MemoryKind::device, 0}, kChunk);
  stage.run(other, stage.output, invert);
  EXPECT_EQ(stage.read(stage.output)[0], ~stage.read(other)[0]);
}

TEST(Staging, SaysThatThereIsNoMemoryForIt) {
  HostDevice device;
  device.fail_allocation(2);
  expect_error(ErrorCode::cuda, {"64 bytes of pinned memory", "injected"},
               [&] { const Staging staging(device, 0, 64); });
  EXPECT_EQ(device.allocations(), 0U);
}

}  // namespace
}  // namespace rondo::device
