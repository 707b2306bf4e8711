#include "transport/shm_heap.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <new>

#include <fmt/core.h>

#include <rondo/error.hpp>

#include "core/log.hpp"

namespace rondo::transport {

namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kLargestPooled =
    std::size_t{256} * 1024;  // larger pieces have segments of their own

void* ordinary_memory(std::size_t bytes) {
  if (bytes > std::numeric_limits<std::ptrdiff_t>::max()) throw std::bad_alloc();
  void* memory = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

/// Each segment keeps a file open; the program needs some of those that it may have.
std::size_t most_segments() {
  rlimit files{};
  return getrlimit(RLIMIT_NOFILE, &files) == 0 ? files.rlim_cur / 2 : 0;
}

void say_once_that_there_is_none(const Error& error) {
  static std::once_flag said;
  std::call_once(said, [&] {
    core::log(core::LogLevel::warning,
              fmt::format("{}: ordinary memory is used instead, and collectives on it copy (give "
                          "the job more memory or more open files)",
                          error.what()));
  });
}

}  // namespace

SharedHeap& SharedHeap::instance() {
  static auto& heap = *new SharedHeap;  // never destroyed: buffers may be static
  return heap;
}

SharedHeap::SharedHeap()
    : pool_({.max_blocks_per_chunk = 0, .largest_required_pool_block = kLargestPooled},
            &segments_) {}

void* SharedHeap::allocate(std::size_t bytes) {
  const std::size_t wanted = std::max<std::size_t>(bytes, 1);
  return wanted > kLargestPooled ? segments_.allocate(wanted, kAlignment)
                                 : pool_.allocate(wanted, kAlignment);
}

void SharedHeap::deallocate(void* memory, std::size_t bytes) noexcept {
  const std::size_t wanted = std::max<std::size_t>(bytes, 1);
  if (wanted > kLargestPooled)
    segments_.deallocate(memory, wanted, kAlignment);
  else
    pool_.deallocate(memory, wanted, kAlignment);
}

Location SharedHeap::find(const void* memory, std::size_t bytes) const {
  return segments_.find(reinterpret_cast<std::uintptr_t>(memory), bytes);
}

Location SharedHeap::Segments::find(std::uintptr_t address, std::size_t bytes) const {
  const std::shared_lock lock(mutex_);
  auto behind = by_address_.upper_bound(address);
  if (behind == by_address_.begin()) return {};
  const auto& [begin, segment] = *std::prev(behind);
  const std::size_t offset = address - begin;
  if (offset > segment->bytes() || bytes > segment->bytes() - offset) return {};
  if (segments_have_names() && segment->name().file >= 0) return {};  // others can't open it
  return {segment->name(), offset};
}

void* SharedHeap::Segments::do_allocate(std::size_t bytes, std::size_t) {
  try {
    check_files();
    auto segment = SharedSegment::create(bytes);
    void* memory = segment->data();
    const std::lock_guard lock(mutex_);
    by_address_[reinterpret_cast<std::uintptr_t>(memory)] = std::move(segment);
    return memory;
  } catch (const Error& error) {
    say_once_that_there_is_none(error);
    return ordinary_memory(bytes);
  }
}

void SharedHeap::Segments::check_files() const {
  const std::shared_lock lock(mutex_);
  if (by_address_.size() >= most_segments())
    throw Error(ErrorCode::system,
                fmt::format("{} pieces of shared memory take half of the files that this process "
                            "may have open",
                            by_address_.size()));
}

void SharedHeap::Segments::do_deallocate(void* memory, std::size_t, std::size_t) {
  const std::lock_guard lock(mutex_);
  const auto found = by_address_.find(reinterpret_cast<std::uintptr_t>(memory));
  if (found == by_address_.end()) return std::free(memory);
  found->second->discard();
  by_address_.erase(found);
}

std::shared_ptr<std::byte> MappedSegments::at(const Location& location) {
  const std::uint64_t serial = location.segment.serial;
  auto found = segments_.find(serial);
  if (found == segments_.end()) {
    if (segments_.size() >= most_) segments_.clear();
    found = segments_.emplace(serial, SharedSegment::open(location.segment)).first;
  }
  return {found->second, found->second->data() + location.offset};
}

}  // namespace rondo::transport
