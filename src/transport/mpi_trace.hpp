#pragma once

#include <mpi.h>

#include <chrono>
#include <string>

namespace rondo::transport {

/// The trace of all ranks of a communicator, in one file of Chrome's trace event format on rank 0,
/// by rank 0's clock.
class MpiTrace {
 public:
  /// Traces if rank 0's `path` is not empty. Compares the clocks by messages: the offset is that of
  /// the one which came back soonest. Collective. Throws on rank 0 only, Error(system) if the file
  /// can't be written; the others then still wait in it.
  MpiTrace(MPI_Comm comm, std::string path);

  /// Gathers the events and replaces the file; what goes wrong with it is logged. Collective, and
  /// over by the deadline: false if another rank was not.
  bool write(std::chrono::steady_clock::time_point deadline);

 private:
  void compare_clocks();
  double microseconds(std::chrono::steady_clock::time_point time) const;
  std::string events_as_json() const;

  MPI_Comm comm_;
  std::string path_;
  int rank_ = 0;
  int size_ = 1;
  bool on_ = false;
  long long origin_ = 0;  // of the trace's time, in nanoseconds of this rank's clock
};

}  // namespace rondo::transport
