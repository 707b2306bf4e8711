#include "transport/shm_heap.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstring>
#include <limits>
#include <set>
#include <thread>
#include <vector>

#include <rondo/error.hpp>

#include "support/shared_mappings.hpp"

namespace rondo::transport {
namespace {

constexpr std::size_t kLarge = std::size_t{1024} * 1024;  // has a segment of its own

SharedHeap& heap() { return SharedHeap::instance(); }

TEST(SharedHeap, GivesAlignedMemoryThatItFindsAgain) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{100}, kLarge}) {
    void* memory = heap().allocate(bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 64, 0U) << bytes;
    std::memset(memory, 1, bytes);
    EXPECT_FALSE(heap().find(memory, bytes).is_private()) << bytes;
    heap().deallocate(memory, bytes);
  }
}

TEST(SharedHeap, FindsPartsButNothingThatReachesBeyond) {
  auto* memory = static_cast<std::byte*>(heap().allocate(kLarge));
  const Location whole = heap().find(memory, kLarge);
  const Location part = heap().find(memory + 100, kLarge - 100);
  EXPECT_EQ(part.segment, whole.segment);
  EXPECT_EQ(part.offset, whole.offset + 100);
  EXPECT_TRUE(heap().find(memory, kLarge + 1).is_private());
  EXPECT_TRUE(heap().find(memory + 1, kLarge).is_private());
  EXPECT_TRUE(heap().find(memory - 1, 1).is_private());
  EXPECT_TRUE(heap().find(memory, std::numeric_limits<std::size_t>::max()).is_private());
  heap().deallocate(memory, kLarge);
}

TEST(SharedHeap, KnowsOrdinaryAndFreedMemoryAsPrivate) {
  std::vector<std::byte> ordinary(kLarge);
  EXPECT_TRUE(heap().find(ordinary.data(), kLarge).is_private());
  EXPECT_TRUE(heap().find(nullptr, 0).is_private());
  void* memory = heap().allocate(kLarge);
  heap().deallocate(memory, kLarge);
  EXPECT_TRUE(heap().find(memory, kLarge).is_private());
}

TEST(SharedHeap, GivesLargeMemoryBackAtOnce) {
  heap();  // has memory of its own
  const std::size_t mappings = testing::shared_mappings();
  const std::size_t files = testing::open_files();
  void* memory = heap().allocate(kLarge);
  EXPECT_EQ(testing::shared_mappings(), mappings + 1);
  heap().deallocate(memory, kLarge);
  EXPECT_EQ(testing::shared_mappings(), mappings);
  EXPECT_EQ(testing::open_files(), files);
}

TEST(SharedHeap, SmallPiecesShareSegments) {
  const std::size_t files = testing::open_files();
  std::vector<void*> pieces;
  for (int i = 0; i < 1'000; ++i) pieces.push_back(heap().allocate(1'000));
  EXPECT_EQ(std::set(pieces.begin(), pieces.end()).size(), pieces.size());
  EXPECT_LT(testing::open_files() - files, 50U);
  for (void* piece : pieces) heap().deallocate(piece, 1'000);
}

TEST(SharedHeap, FallsBackToOrdinaryMemoryAndSaysSoOnce) {
  limit_segments(0);
  ::testing::internal::CaptureStderr();
  void* first = heap().allocate(kLarge);
  void* second = heap().allocate(kLarge);
  const std::string said = ::testing::internal::GetCapturedStderr();
  limit_segments(std::numeric_limits<std::size_t>::max());
  std::memset(first, 1, kLarge);
  EXPECT_TRUE(heap().find(first, kLarge).is_private());
  heap().deallocate(first, kLarge);
  heap().deallocate(second, kLarge);
  const std::size_t at = said.find("ordinary memory is used instead");
  EXPECT_NE(at, std::string::npos) << said;
  EXPECT_EQ(said.find("ordinary memory", at + 1), std::string::npos) << said;
}

TEST(SharedHeap, LeavesHalfOfTheFilesToTheProgram) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{200, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  std::vector<void*> pieces;
  for (int i = 0; i < 150; ++i) pieces.push_back(heap().allocate(kLarge / 2));
  EXPECT_LE(testing::open_files(), 120U);
  EXPECT_FALSE(heap().find(pieces[50], kLarge / 2).is_private());
  EXPECT_TRUE(heap().find(pieces.back(), kLarge / 2).is_private());
  for (void* piece : pieces) heap().deallocate(piece, kLarge / 2);
  EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST(SharedHeap, WhatIsFarTooMuchIsRefused) {
  limit_segments(0);
  for (const std::size_t bytes :
       {std::numeric_limits<std::size_t>::max(), std::numeric_limits<std::size_t>::max() - 4'000,
        std::numeric_limits<std::size_t>::max() / 2 + 1})
    EXPECT_THROW(heap().allocate(bytes), std::bad_alloc) << bytes;
  limit_segments(std::numeric_limits<std::size_t>::max());
}

TEST(SharedHeap, ThreadsAllocateSideBySide) {
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([thread] {
      for (std::size_t i = 0; i < 200; ++i) {
        const std::size_t bytes = i % 20 == 0 ? kLarge / 2 : 17 * i;
        auto* memory = static_cast<std::byte*>(heap().allocate(bytes));
        std::memset(memory, thread, bytes);
        EXPECT_FALSE(heap().find(memory, bytes).is_private());
        for (std::size_t k = 0; k < bytes; k += 1'000)
          EXPECT_EQ(memory[k], static_cast<std::byte>(thread));
        heap().deallocate(memory, bytes);
      }
    });
}

/// What an operation is working on stays mapped, however many segments come after it.
TEST(MappedSegments, WhatIsHeldStaysMapped) {
  constexpr std::size_t kMost = 3;
  MappedSegments mapped(kMost);
  const std::size_t before = testing::shared_mappings();
  auto first = SharedSegment::create(100);
  first->data()[5] = std::byte{42};
  const std::shared_ptr<std::byte> held = mapped.at({first->name(), 5});
  first.reset();
  std::vector<std::shared_ptr<SharedSegment>> others;
  for (std::size_t i = 0; i < 2 * kMost; ++i) {
    others.push_back(SharedSegment::create(100));
    mapped.at({others.back()->name(), 0});
  }
  EXPECT_EQ(testing::shared_mappings(), before + 1 + others.size());
  EXPECT_EQ(*held, std::byte{42});
}

TEST(MappedSegments, DropsWhatNobodyUsesWhenItIsFull) {
  constexpr std::size_t kMost = 3;
  MappedSegments mapped(kMost);
  const std::size_t before = testing::shared_mappings();
  for (std::size_t i = 0; i < 10 * kMost; ++i) {
    const auto segment = SharedSegment::create(100);
    mapped.at({segment->name(), 0});
  }
  EXPECT_LE(testing::shared_mappings(), before + kMost);
}

TEST(MappedSegments, ASegmentThatIsGoneIsAnError) {
  MappedSegments mapped;
  auto segment = SharedSegment::create(100);
  const Location location{segment->name(), 0};
  segment.reset();
  EXPECT_THROW(mapped.at(location), Error);
}

}  // namespace
}  // namespace rondo::transport
