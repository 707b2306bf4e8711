#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/log.hpp"

namespace rondo::core {

/// What the RONDO_* environment variables say. The table in README.md describes each. An empty
/// variable counts as one that is not set.
struct Settings {
  enum class Progress { thread, poll };
  enum class OnFailure { abort, throw_error };

  std::string algorithm;                       // RONDO_ALGORITHM; empty: the selector chooses
  std::chrono::milliseconds timeout{600'000};  // RONDO_TIMEOUT, in seconds
  LogLevel log = LogLevel::warning;            // RONDO_LOG = error|warning|info|debug
  std::string trace;                           // RONDO_TRACE, a file's path
  std::string tuning_file;                     // RONDO_TUNING_FILE, a file's path
  Progress progress = Progress::thread;        // RONDO_PROGRESS = thread|poll
  bool shm = true;                             // RONDO_SHM = on|off
  bool vendor = false;                         // RONDO_VENDOR = on|off
  bool nccl = true;                            // RONDO_NCCL = on|off
  bool deterministic = false;                  // RONDO_DETERMINISTIC = on|off
  std::size_t staging_bytes = 4'194'304;       // RONDO_STAGING_BYTES
  OnFailure on_failure = OnFailure::abort;     // RONDO_ON_FAILURE = abort|throw

  /// Reads the environment. Throws Error(usage) naming an unknown RONDO_* variable (with the
  /// nearest known name) or a value out of range (with what is allowed).
  static Settings from_environment();

  /// Sets the log level of this process.
  void put_in_force() const;

  /// One line of text that holds every setting which must be alike on all ranks (rank 0's are the
  /// ones used).
  std::string encode() const;
  /// The settings that encode() wrote; `own` supplies those that each rank has for itself: log,
  /// trace, progress, and the tuning file's path. Throws Error(mismatch) for any other text.
  static Settings decode(std::string_view text, Settings own);

  /// Every variable with its value as it would be written in the environment, in the order of the
  /// README's table.
  std::vector<std::pair<std::string_view, std::string>> list() const;

  bool operator==(const Settings&) const = default;
};

}  // namespace rondo::core
