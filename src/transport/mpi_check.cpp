#include "transport/mpi_check.hpp"

#include <cstdio>
#include <cstdlib>
#include <thread>

#include "core/backoff.hpp"

namespace rondo::transport {

namespace {

/// What a failed MPI_Test means is the caller's: `code` has it.
bool poll_until(MPI_Request& request, Deadline deadline, int& code) {
  for (core::Backoff backoff;; backoff.pause()) {
    int done = 0;
    code = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS || done != 0) return true;
    if (backoff.look_around() && std::chrono::steady_clock::now() >= deadline) return false;
  }
}

}  // namespace

bool complete_by(MPI_Request& request, Deadline deadline) {
  int code = MPI_SUCCESS;
  const bool complete = poll_until(request, deadline, code);
  check(code, "MPI_Test");
  return complete;
}

bool cancel_by(MPI_Request& receive, Deadline deadline) {
  if (receive == MPI_REQUEST_NULL) return true;
  check(MPI_Cancel(&receive), "MPI_Cancel");
  int ignored = MPI_SUCCESS;
  return poll_until(receive, deadline, ignored);
}

void abort_job(int status) {
  constexpr std::chrono::milliseconds kTimeToPassOn{200};
  std::fflush(nullptr);
  if (mpi_is_running()) {
    std::this_thread::sleep_for(kTimeToPassOn);
    MPI_Abort(MPI_COMM_WORLD, status);
  }
  std::_Exit(status);
}

}  // namespace rondo::transport
