#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include <rondo/communicator.hpp>

namespace rondo {

namespace detail {
/// `bytes` of 64-byte aligned memory that the other processes of this node can map; ordinary memory
/// where no shared memory is left. Throws std::bad_alloc when there is none at all. Thread-safe.
void* allocate_shared(std::size_t bytes);
/// Of the same size as allocated.
void free_shared(void* memory, std::size_t bytes) noexcept;
}  // namespace detail

/// A standard allocator of memory that the ranks of a node reach without copying: collectives find
/// it by its address, so that `std::vector<float, rondo::SharedAllocator<float>>` is zero-copy
/// wherever it is passed. Not collective; thread-safe; all allocators are alike.
///
/// Where a node has no shared memory left, it is ordinary memory, which collectives copy (one line
/// of the log says so). Memory may be freed once no collective on it is under way.
template <class T>
class SharedAllocator {
 public:
  using value_type = T;

  SharedAllocator() = default;
  template <class U>
  SharedAllocator(const SharedAllocator<U>&) {}

  T* allocate(std::size_t count) {
    if (count > std::numeric_limits<std::size_t>::max() / sizeof(T))
      throw std::bad_array_new_length();
    return static_cast<T*>(detail::allocate_shared(count * sizeof(T)));
  }
  void deallocate(T* memory, std::size_t count) noexcept {
    detail::free_shared(memory, count * sizeof(T));
  }

  template <class U>
  bool operator==(const SharedAllocator<U>&) const {
    return true;
  }
};

/// Zero-initialised memory that the collectives reach without copying where the path allows it (see
/// SharedAllocator); 64-byte aligned. Not collective: each rank makes its own, whenever it likes,
/// of any size. Throws std::bad_alloc.
template <class T>
class SharedBuffer {
 public:
  SharedBuffer(Communicator& /*communicator*/, std::size_t count) : data_(count) {}
  SharedBuffer(SharedBuffer&&) noexcept = default;
  SharedBuffer& operator=(SharedBuffer&&) noexcept = default;
  SharedBuffer(const SharedBuffer&) = delete;
  SharedBuffer& operator=(const SharedBuffer&) = delete;

  std::span<T> span() { return data_; }
  std::span<const T> span() const { return data_; }
  T* data() { return data_.data(); }
  const T* data() const { return data_.data(); }
  std::size_t size() const { return data_.size(); }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }

 private:
  std::vector<T, SharedAllocator<T>> data_;
};

}  // namespace rondo
