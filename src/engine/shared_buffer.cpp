#include <rondo/shared_buffer.hpp>

#include <cstdlib>
#include <cstring>

#include <fmt/core.h>

namespace rondo::detail {

void* allocate_shared(Communicator&, std::size_t bytes) {
  constexpr std::size_t kAlignment = 64;
  const std::size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  void* memory = std::aligned_alloc(kAlignment, rounded == 0 ? kAlignment : rounded);
  if (memory == nullptr)
    throw Error(ErrorCode::system,
                fmt::format("no memory for a SharedBuffer of {} bytes; make it smaller", bytes));
  std::memset(memory, 0, rounded);
  return memory;
}

void free_shared(void* memory) { std::free(memory); }

}  // namespace rondo::detail
