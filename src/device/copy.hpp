#pragma once

#include <cstddef>

namespace rondo::device {

/// std::memcpy between memory of any kinds, behind all that was enqueued in the device's default
/// stream; waits. Throws Error(cuda).
void copy(void* to, const void* from, std::size_t bytes);

}  // namespace rondo::device
