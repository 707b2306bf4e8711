#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

namespace rondo {

/// Elements that begin `misalignment` bytes behind a 64-byte boundary, with canaries on both sides.
template <class T>
class Guarded {
 public:
  Guarded(std::span<const T> values, std::size_t misalignment)
      : count_(values.size()), bytes_(4 * kMargin + values.size_bytes(), kCanary) {
    void* start = bytes_.data() + kMargin;
    std::size_t room = bytes_.size() - kMargin;
    std::align(kMargin, 1, start, room);
    start_ = static_cast<std::byte*>(start) + misalignment;
    if (count_ != 0) std::memcpy(start_, values.data(), values.size_bytes());
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  void* data() { return start_; }
  std::vector<T> values() const {
    std::vector<T> values(count_);
    if (count_ != 0) std::memcpy(values.data(), start_, count_ * sizeof(T));
    return values;
  }
  bool canaries_live() const {
    const auto untouched = [](std::byte byte) { return byte == kCanary; };
    const std::byte* end = start_ + count_ * sizeof(T);
    return std::all_of(bytes_.data(), static_cast<const std::byte*>(start_), untouched) &&
           std::all_of(end, bytes_.data() + bytes_.size(), untouched);
  }

 private:
  static constexpr std::size_t kMargin = 64;
  static constexpr std::byte kCanary{0xa5};

  std::size_t count_;
  std::vector<std::byte> bytes_;
  std::byte* start_;
};

}  // namespace rondo
