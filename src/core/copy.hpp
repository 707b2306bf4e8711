#pragma once

#include <cstddef>

namespace rondo::core {

/// Copies past the caches of the writer: for memory that is not read again soon, where reading the
/// target's lines before they are overwritten would be a waste. No overlap; any alignment. What was
/// written is visible before anything that the caller writes afterwards.
void stream_copy(const void* source, void* target, std::size_t bytes);

/// Size of the processor's last cache, which its cores share.
std::size_t last_cache_bytes();

}  // namespace rondo::core
