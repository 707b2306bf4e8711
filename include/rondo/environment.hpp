#pragma once

namespace rondo {

/// Initialises MPI unless it already runs, and finalises it if this object initialised it.
/// Construct one in main(), before any Communicator. Collective over all processes of the job.
///
/// It asks for MPI_THREAD_MULTIPLE and is content with less. Destroyed while an exception unwinds,
/// it aborts the job instead of finalising, so that one rank's exception ends all ranks.
class Environment {
 public:
  Environment(int& argc, char**& argv);
  Environment();
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  bool owns_mpi_ = false;
  int exceptions_at_start_ = 0;
};

/// Runs `body`, and returns its exit status; what it throws is printed with this process's rank,
/// and then the whole job is aborted (exit status 1) so that no other rank waits for this one. For
/// use in main().
int run_main(int argc, char** argv, int (*body)(int argc, char** argv));

}  // namespace rondo
