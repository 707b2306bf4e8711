#include "collectives/workspace.hpp"

#include <cstdlib>

#include <fmt/core.h>

#include <rondo/error.hpp>

namespace rondo::collectives {

namespace {
constexpr std::size_t kAlignment = 64;
}

std::size_t round_up(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

std::byte* Workspace::reserve(std::size_t bytes) {
  if (bytes <= capacity_) return memory_.get();
  const std::size_t rounded = round_up(bytes);
  memory_ = {nullptr, nullptr};
  capacity_ = 0;
  void* memory = std::aligned_alloc(kAlignment, rounded);
  if (memory == nullptr)
    throw Error(ErrorCode::system,
                fmt::format("no memory for {} bytes of intermediate results; reduce fewer elements "
                            "at once, or a smaller segment_bytes",
                            rounded));
  memory_ = {static_cast<std::byte*>(memory), &std::free};
  capacity_ = rounded;
  return memory_.get();
}

}  // namespace rondo::collectives
