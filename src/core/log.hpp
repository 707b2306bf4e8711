#pragma once

#include <string_view>

namespace rondo::core {

enum class LogLevel { error, warning, info, debug };

/// "error", "warning", …
std::string_view name_of(LogLevel level);

/// Messages at or above this level are printed; RONDO_LOG sets it (default: warning).
LogLevel log_level();
void set_log_level(LogLevel level);

/// The rank of this process that log lines carry; while it is -1, the default, they carry none.
void set_log_rank(int rank);

/// One line on stderr, written at once so that ranks don't mix: "rondo [rank 3] warning: …". Never
/// throws, never allocates, and leaves errno alone.
void log(LogLevel level, std::string_view message) noexcept;

}  // namespace rondo::core
