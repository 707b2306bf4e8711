#pragma once

#include <cstddef>

namespace rondo::core {

/// Copies with vector loads and stores: no overlap, any alignment. (The C library's memcpy uses
/// `rep movsb` for such sizes, which some processors are three times slower at.)
void copy(const void* source, void* target, std::size_t bytes);

/// The same, but past the caches of the writer: for memory that is not read again soon, where
/// reading the target's lines before they are overwritten would be a waste. What was written is
/// visible before anything that the caller writes afterwards.
void stream_copy(const void* source, void* target, std::size_t bytes);

/// Size of the processor's last cache, which its cores share.
std::size_t last_cache_bytes();

}  // namespace rondo::core
