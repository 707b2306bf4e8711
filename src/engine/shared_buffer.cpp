#include <rondo/shared_buffer.hpp>

#include "transport/shm_heap.hpp"

namespace rondo::detail {

void* allocate_shared(std::size_t bytes) {
  return transport::SharedHeap::instance().allocate(bytes);
}

void free_shared(void* memory, std::size_t bytes) noexcept {
  transport::SharedHeap::instance().deallocate(memory, bytes);
}

}  // namespace rondo::detail
