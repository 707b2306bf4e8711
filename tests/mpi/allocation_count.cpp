#include "mpi/allocation_count.hpp"

#include <cstdlib>
#include <new>

namespace rondo::testing {

namespace {
thread_local std::size_t allocations = 0;
}  // namespace

std::size_t allocations_of_this_thread() { return allocations; }

namespace {

void* allocate(std::size_t bytes, std::size_t alignment) {
  ++allocations;
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  if (void* memory = std::aligned_alloc(alignment, rounded)) return memory;
  throw std::bad_alloc();
}

}  // namespace
}  // namespace rondo::testing

// The other forms of new and delete call these.
void* operator new(std::size_t bytes) {
  return rondo::testing::allocate(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return rondo::testing::allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
