#include "core/log.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>

namespace rondo::core {

namespace {

constexpr std::array<std::string_view, 4> kLevelNames{"error", "warning", "info", "debug"};

std::atomic<LogLevel> current_level{LogLevel::warning};
std::atomic<int> current_rank{-1};

iovec piece(const char* data, std::size_t bytes) {
  return {const_cast<char*>(data), bytes};  // writev only reads, but its type doesn't say so
}

}  // namespace

std::string_view name_of(LogLevel level) { return kLevelNames[static_cast<std::size_t>(level)]; }

LogLevel log_level() { return current_level.load(std::memory_order_relaxed); }

void set_log_level(LogLevel level) { current_level.store(level, std::memory_order_relaxed); }

void set_log_rank(int rank) { current_rank.store(rank, std::memory_order_relaxed); }

void log(LogLevel level, std::string_view message) noexcept {
  if (level > log_level()) return;
  const int rank = current_rank.load(std::memory_order_relaxed);
  const char* name = kLevelNames[static_cast<std::size_t>(level)].data();  // zero-terminated
  std::array<char, 64> prefix;  // holds "rondo [rank -2147483648] warning: "
  const int length =
      rank < 0 ? std::snprintf(prefix.data(), prefix.size(), "rondo %s: ", name)
               : std::snprintf(prefix.data(), prefix.size(), "rondo [rank %d] %s: ", rank, name);
  const std::array pieces{piece(prefix.data(), static_cast<std::size_t>(length)),
                          piece(message.data(), message.size()), piece("\n", 1)};
  // One call, so that the kernel keeps the line together; nowhere to report a failure to.
  const int saved_errno = errno;
  while (writev(STDERR_FILENO, pieces.data(), pieces.size()) < 0 && errno == EINTR) {
  }
  errno = saved_errno;
}

}  // namespace rondo::core
