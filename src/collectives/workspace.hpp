#pragma once

#include <cstddef>
#include <memory>

namespace rondo::collectives {

/// Grows, never shrinks, and keeps what it has between operations. 64-byte aligned; contents are
/// lost by growing.
class Workspace {
 public:
  std::byte* reserve(std::size_t bytes);

 private:
  std::unique_ptr<std::byte, void (*)(void*)> memory_{nullptr, nullptr};
  std::size_t capacity_ = 0;
};

/// `bytes`, rounded up so that what follows is aligned like the workspace itself.
std::size_t round_up(std::size_t bytes);

}  // namespace rondo::collectives
