#pragma once

namespace rondo {

/// Whether a sanitizer watches, which slows everything down by ten and more. Tests whose number is
/// there to find wrong results then run only in part: every kind of memory access is still seen.
/// The thread sanitizer alone is slower by three again.
#if defined(__SANITIZE_THREAD__)
inline constexpr bool kThreadSanitized = true;
#else
inline constexpr bool kThreadSanitized = false;
#endif
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = kThreadSanitized;
#endif

}  // namespace rondo
