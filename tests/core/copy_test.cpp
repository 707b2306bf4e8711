#include "core/copy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/instruction_set_test.hpp"

namespace rondo::core {
namespace {

class StreamCopy : public InstructionSetTest {};

TEST_P(StreamCopy, CopiesEveryByteAndNoOtherAtAnyAlignment) {
  constexpr std::byte kCanary{0x5a};
  constexpr std::size_t kMost = 700;
  constexpr std::size_t kMargin = 128;
  std::vector<std::byte> source(kMost + 64);
  for (std::size_t i = 0; i < source.size(); ++i)
    source[i] = static_cast<std::byte>(i * 7 + i / 256);
  std::vector<std::byte> target(kMost + 2 * kMargin);
  for (std::size_t bytes = 0; bytes <= kMost; bytes += bytes < 300 ? 1 : 97)
    for (const std::size_t from : {std::size_t{0}, std::size_t{1}, std::size_t{33}})
      for (std::size_t to = 0; to < 65; to += 4 + bytes % 3) {
        std::fill(target.begin(), target.end(), kCanary);
        stream_copy(source.data() + from, target.data() + kMargin / 2 + to, bytes);
        const auto begin = target.begin() + static_cast<std::ptrdiff_t>(kMargin / 2 + to);
        const auto end = begin + static_cast<std::ptrdiff_t>(bytes);
        const auto untouched = [](std::byte byte) { return byte == kCanary; };
        ASSERT_TRUE(std::equal(begin, end, source.begin() + static_cast<std::ptrdiff_t>(from)))
            << bytes << " bytes from " << from << " to " << to;
        ASSERT_TRUE(std::all_of(target.begin(), begin, untouched)) << bytes << " before " << to;
        ASSERT_TRUE(std::all_of(end, target.end(), untouched)) << bytes << " behind " << to;
      }
}

TEST_P(StreamCopy, NothingNeedsNoMemory) { stream_copy(nullptr, nullptr, 0); }

RONDO_FOR_EACH_INSTRUCTION_SET(StreamCopy);

TEST(LastCache, HasAPlausibleSize) {
  EXPECT_GE(last_cache_bytes(), std::size_t{256} * 1024);
  EXPECT_LE(last_cache_bytes(), std::size_t{4} * 1024 * 1024 * 1024);
}

}  // namespace
}  // namespace rondo::core
