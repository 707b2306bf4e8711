#include "device/staging.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "support/expect_error.hpp"
#include "support/host_device.hpp"

namespace rondo::device {
namespace {

using testing::expect_error;
using testing::HostDevice;

constexpr std::size_t kChunk = 64;

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

  std::vector<std::byte> read(const Memory& memory) {
    std::vector<std::byte> values(memory.bytes());
    const auto stream = device.make_stream(0);
    stream->copy(values.data(), memory.data(), memory.bytes());
    stream->synchronize();
    return values;
  }
};

void invert(const Staging::Chunk& chunk) {
  for (std::size_t i = 0; i < chunk.bytes; ++i) chunk.data[i] = ~chunk.data[i];
}

TEST(Staging, WorksOnEveryByteOnceWhateverTheSize) {
  for (const std::size_t bytes : {1UL, 63UL, 64UL, 65UL, 128UL, 192UL, 193UL, 6405UL, 6404UL}) {
    Stage stage(bytes);
    const std::vector<std::byte> before = stage.read(stage.input);
    std::vector<std::byte> expected = before;
    for (std::byte& value : expected) value = ~value;

    stage.staging.run(stage.input.data(), stage.output.data(), bytes, invert);
    EXPECT_TRUE(stage.read(stage.output) == expected) << bytes;
    EXPECT_TRUE(stage.read(stage.input) == before) << bytes;

    stage.staging.run(stage.output.data(), stage.output.data(), bytes, invert);
    EXPECT_TRUE(stage.read(stage.output) == before) << bytes << " in place";
  }
}

TEST(Staging, GivesChunksInTheirOrder) {
  Stage stage(3 * kChunk + 5);
  std::vector<std::size_t> offsets;
  std::vector<std::size_t> sizes;
  stage.staging.run(stage.input.data(), stage.output.data(), stage.input.bytes(),
                    [&](const Staging::Chunk& chunk) {
                      EXPECT_EQ(stage.device.locate(chunk.data).kind, MemoryKind::pinned);
                      offsets.push_back(chunk.offset);
                      sizes.push_back(chunk.bytes);
                    });
  EXPECT_EQ(offsets, (std::vector<std::size_t>{0, 64, 128, 192}));
  EXPECT_EQ(sizes, (std::vector<std::size_t>{64, 64, 64, 5}));
}

TEST(Staging, NothingIsNoWork) {
  Stage stage(8);
  stage.staging.run(nullptr, nullptr, 0, [](const Staging::Chunk&) { FAIL(); });
}

TEST(Staging, ReportsWhicheverCopyFails) {
  constexpr std::size_t kChunks = 5;
  for (int copy = 0; copy < static_cast<int>(2 * kChunks); ++copy) {
    Stage stage(kChunks * kChunk);
    stage.device.fail_copy(copy);
    expect_error(ErrorCode::cuda, {"injected"}, [&] {
      stage.staging.run(stage.input.data(), stage.output.data(), kChunks * kChunk, invert);
    });
  }
}

TEST(Staging, LeavesTheMemoryAloneOnceItHasThrown) {
  Stage stage(8 * kChunk);
  const auto fail_in_the_third = [&](const Staging::Chunk& chunk) {
    if (chunk.offset == 2 * kChunk) throw std::runtime_error("work failed");
  };
  EXPECT_THROW(
      stage.staging.run(stage.input.data(), stage.output.data(), 8 * kChunk, fail_in_the_third),
      std::runtime_error);
  // A copy that is still under way would find its memory gone, and fail its stream.
  stage.input = Memory();
  stage.output = Memory(stage.device, {MemoryKind::device, 0}, kChunk);
  const Memory other(stage.device, {MemoryKind::device, 0}, kChunk);
  stage.staging.run(other.data(), stage.output.data(), kChunk, invert);
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
