#pragma once

#include <mpi.h>

#include <array>
#include <chrono>
#include <string>

#include <rondo/error.hpp>

// What every use of MPI needs. Only for the sources of src/transport/mpi*.
namespace rondo::transport {

/// What MPI says about one of its error codes.
inline std::string mpi_error_text(int code) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  if (MPI_Error_string(code, text.data(), &length) != MPI_SUCCESS)
    return "unknown MPI error " + std::to_string(code);
  return std::string(text.data(), length);
}

/// Throws Error(mpi) if an MPI call failed: check(MPI_Isend(…), "MPI_Isend").
inline void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  throw Error(ErrorCode::mpi, std::string(call) + " failed: " + mpi_error_text(code));
}

/// True from MPI_Init to MPI_Finalize.
inline bool mpi_is_running() {
  int initialized = 0;
  int finalized = 0;
  return MPI_Initialized(&initialized) == MPI_SUCCESS && initialized != 0 &&
         MPI_Finalized(&finalized) == MPI_SUCCESS && finalized == 0;
}

using Deadline = std::chrono::steady_clock::time_point;

/// Polls, ever more lazily, until `request` is complete; false once `deadline` has passed. Throws
/// Error(mpi).
bool complete_by(MPI_Request& request, Deadline deadline);

/// Cancels a receive, whose memory is then free. False if it had begun to arrive and did not end by
/// `deadline`: MPI may then still write to the memory. Errors of the message itself don't matter.
bool cancel_by(MPI_Request& receive, Deadline deadline);

/// Ends all ranks of the job with this exit status, a moment later: MPICH's launcher throws away
/// what it has not passed on yet, and that would be the message which says why.
[[noreturn]] void abort_job(int status);

}  // namespace rondo::transport
