#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace rondo {

/// What kind of thing went wrong. docs/errors.md tells for each what to do.
enum class ErrorCode {
  usage,         ///< the caller's arguments or order of calls
  mismatch,      ///< ranks disagree about an operation
  timeout,       ///< a deadline passed
  peer_lost,     ///< a rank stopped, died or left
  mpi,           ///< an MPI call failed
  cuda,          ///< a CUDA call failed
  nccl,          ///< an NCCL call failed
  system,        ///< a system call failed
  corrupt_file,  ///< a file is damaged, cut short or not what it should be
};

/// "usage", "mismatch", …
std::string_view name_of(ErrorCode code);

/// Every error that Rondo throws. what() is "rondo: <code>: <message>"; the message says what to
/// do.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message);

  ErrorCode code() const noexcept { return code_; }
  /// what() without the "rondo: <code>: " before it, so that it can be wrapped again.
  std::string_view message() const noexcept;

 private:
  ErrorCode code_;
};

}  // namespace rondo
