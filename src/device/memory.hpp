#pragma once

#include <cstddef>
#include <utility>

#include "device/runtime.hpp"

namespace rondo::device {

/// Memory of any kind, freed when this goes. Work that uses it must be over by then.
class Memory {
 public:
  Memory() = default;
  /// Throws Error(cuda) where there is none.
  Memory(Runtime& runtime, Location where, std::size_t bytes)
      : runtime_(&runtime), where_(where), data_(runtime.allocate(where, bytes)), bytes_(bytes) {}
  Memory(Memory&& other) noexcept { swap(other); }
  Memory& operator=(Memory&& other) noexcept {
    Memory(std::move(other)).swap(*this);
    return *this;
  }
  ~Memory() {
    if (data_ != nullptr) runtime_->free(where_, data_);
  }

  std::byte* data() const { return static_cast<std::byte*>(data_); }
  std::size_t bytes() const { return bytes_; }

 private:
  void swap(Memory& other) noexcept {
    std::swap(runtime_, other.runtime_);
    std::swap(where_, other.where_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
  }

  Runtime* runtime_ = nullptr;
  Location where_;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace rondo::device
