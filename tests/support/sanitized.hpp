#pragma once

namespace rondo {

/// Whether a sanitizer watches, which slows everything down by ten and more. Tests whose number is
/// there to find wrong results then run only in part: every kind of memory access is still seen.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace rondo
