#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "core/log.hpp"

namespace rondo::core {

/// What the RONDO_* environment variables say. The table in README.md describes each.
struct Settings {
  std::string algorithm;                       // RONDO_ALGORITHM; empty: the selector chooses
  std::chrono::milliseconds timeout{600'000};  // RONDO_TIMEOUT, seconds, fractions allowed; > 0
  LogLevel log = LogLevel::warning;            // RONDO_LOG = error|warning|info|debug
  std::string trace;                           // RONDO_TRACE, a file's path
  std::string tuning_file;                     // RONDO_TUNING_FILE
  enum class Progress { thread, poll } progress = Progress::thread;  // RONDO_PROGRESS
  bool shm = true;                                                   // RONDO_SHM = on|off
  bool vendor = false;                                               // RONDO_VENDOR = on|off
  bool deterministic = false;                                        // RONDO_DETERMINISTIC = on|off
  enum class OnFailure {
    abort,
    throw_error
  } on_failure = OnFailure::abort;  // RONDO_ON_FAILURE = abort|throw

  /// Reads the environment. Throws Error(usage) naming an unknown RONDO_* variable (with the
  /// nearest known name) or a value out of range (with what is allowed).
  static Settings from_environment();

  /// One line of text that holds every setting which must be alike on all ranks, and back. Rank 0's
  /// are the ones used.
  std::string encode() const;
  static Settings decode(const std::string& text);
};

}  // namespace rondo::core
