#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace rondo::testing {

/// Memory between two guards that nobody may write, at any distance from a 64-byte boundary. Under
/// the address sanitizer the guards can't even be read. Keeps its memory from one use to the next;
/// where that comes from can be chosen.
class GuardedMemory {
 public:
  explicit GuardedMemory(std::pmr::memory_resource* resource = std::pmr::get_default_resource())
      : storage_(resource) {}
  GuardedMemory(std::size_t bytes, std::size_t misalignment) { resize(bytes, misalignment); }
  GuardedMemory(GuardedMemory&&) = default;
  GuardedMemory& operator=(GuardedMemory&&) = default;
  ~GuardedMemory() { lift_guards(); }

  /// `misalignment` < 64. The content is then the same as that of the guards.
  void resize(std::size_t bytes, std::size_t misalignment) {
    lift_guards();
    storage_.resize(std::max(storage_.size(), bytes + 4 * kGuard));
    head_ = kGuard - reinterpret_cast<std::uintptr_t>(storage_.data()) % kGuard;
    data_ = head_ + kGuard + misalignment;
    bytes_ = bytes;
    std::fill(storage_.begin() + head_, storage_.begin() + data_ + bytes + kGuard, kUntouched);
    lower_guards();
  }

  std::byte* data() { return storage_.data() + data_; }
  const std::byte* data() const { return storage_.data() + data_; }
  std::size_t size() const { return bytes_; }

  /// True while nobody has written outside.
  bool intact() {
    lift_guards();
    const auto is_untouched = [](std::byte byte) { return byte == kUntouched; };
    const auto begin = storage_.begin() + data_;
    const bool result = std::all_of(storage_.begin() + head_, begin, is_untouched) &&
                        std::all_of(begin + bytes_, begin + bytes_ + kGuard, is_untouched);
    lower_guards();
    return result;
  }

  /// The memory and its guards, which may be read and written until the next resize().
  std::span<std::byte> all() {
    lift_guards();
    return {storage_.data() + head_, data_ - head_ + bytes_ + kGuard};
  }

  static constexpr std::byte kUntouched{0xa5};

 private:
  static constexpr std::size_t kGuard = 64;

#if defined(__SANITIZE_ADDRESS__)
  void lower_guards() {
    ASAN_POISON_MEMORY_REGION(storage_.data() + head_, data_ - head_);
    ASAN_POISON_MEMORY_REGION(storage_.data() + data_ + bytes_, kGuard);
  }
  void lift_guards() { ASAN_UNPOISON_MEMORY_REGION(storage_.data(), storage_.size()); }
#else
  void lower_guards() {}
  void lift_guards() {}
#endif

  std::pmr::vector<std::byte> storage_;
  std::size_t head_ = 0;  // where the first guard begins, in storage_
  std::size_t data_ = 0;  // where the memory begins, in storage_
  std::size_t bytes_ = 0;
};

}  // namespace rondo::testing
