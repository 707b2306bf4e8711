#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include <rondo/communicator.hpp>

namespace rondo {

/// Zero-initialised memory that the collectives reach without copying where the path allows it;
/// 64-byte aligned. Not collective: each rank makes its own, whenever it likes. It must not outlive
/// `communicator`.
///
/// In this version it is ordinary memory: correct everywhere, not yet shared between the ranks of a
/// node.
template <class T>
class SharedBuffer {
 public:
  SharedBuffer(Communicator& communicator, std::size_t count);

  std::span<T> span() { return {data_.get(), count_}; }
  std::span<const T> span() const { return {data_.get(), count_}; }
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  std::size_t size() const { return count_; }
  T& operator[](std::size_t i) { return data_.get()[i]; }
  const T& operator[](std::size_t i) const { return data_.get()[i]; }

 private:
  std::unique_ptr<T[], void (*)(void*)> data_;
  std::size_t count_;
};

namespace detail {
/// `bytes` of zeroed, 64-byte aligned memory; throws Error(system) when there is none.
void* allocate_shared(Communicator& communicator, std::size_t bytes);
void free_shared(void* memory);
}  // namespace detail

template <class T>
SharedBuffer<T>::SharedBuffer(Communicator& communicator, std::size_t count)
    : data_(static_cast<T*>(detail::allocate_shared(communicator, count * sizeof(T))),
            &detail::free_shared),
      count_(count) {}

}  // namespace rondo
