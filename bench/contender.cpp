#include "contender.hpp"

#include <cstdlib>
#include <new>

namespace rondo::bench {

std::byte* Contender::allocate(std::size_t bytes) {
  constexpr std::size_t kAlignment = 64;
  void* memory = std::aligned_alloc(kAlignment, (bytes / kAlignment + 1) * kAlignment);
  if (memory == nullptr) throw std::bad_alloc();
  memory_.emplace_back(static_cast<std::byte*>(memory), &std::free);
  return memory_.back().get();
}

}  // namespace rondo::bench
