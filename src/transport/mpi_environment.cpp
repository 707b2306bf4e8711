#include <mpi.h>

#include <chrono>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>

#include <fmt/format.h>

#include <rondo/environment.hpp>
#include <rondo/error.hpp>

#include "core/log.hpp"
#include "core/settings.hpp"
#include "transport/launcher.hpp"
#include "transport/mpi_check.hpp"
#include "transport/mpi_info.hpp"
#include "transport/mpi_trace.hpp"

namespace rondo {

namespace {

using transport::check;
using transport::mpi_is_running;

bool inside_run_main = false;  // it reports what is thrown, and then aborts

/// Where the ranks of an Environment that owns MPI meet before MPI_Finalize.
MPI_Comm farewell = MPI_COMM_NULL;

/// Of an Environment that owns MPI.
std::optional<transport::MpiTrace> trace;

/// True if this call initialised MPI.
bool initialize_mpi(int* argc, char*** argv) {
  int finalized = 0;
  check(MPI_Finalized(&finalized), "MPI_Finalized");
  if (finalized != 0)
    throw Error(
        ErrorCode::usage,
        "MPI was finalised already, and can't be initialised twice in one process: keep one "
        "rondo::Environment for the whole of main()");
  int initialized = 0;
  check(MPI_Initialized(&initialized), "MPI_Initialized");
  if (initialized != 0) return false;
  int provided = MPI_THREAD_SINGLE;
  check(MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided), "MPI_Init_thread");
  check(MPI_Comm_dup(MPI_COMM_WORLD, &farewell), "MPI_Comm_dup");
  return true;
}

/// A program started by another MPI's launcher would run as N jobs of one process each.
void check_launcher() {
  int size = 0;
  check(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size");
  if (size > 1) return;
  const auto hint = transport::launched_as_one_of_several(
      [](const char* name) { return static_cast<const char*>(std::getenv(name)); });
  if (!hint) return;
  throw Error(
      ErrorCode::usage,
      fmt::format(
          "this process was started as one of several by {} ({}={}), but its own MPI ({}) "
          "sees one process only: start the program with the mpirun or mpiexec of that MPI, "
          "or build it with the MPI that the launcher belongs to",
          hint->launcher, hint->variable, hint->value, transport::mpi_library_version()));
}

void announce() {
  int rank = 0;
  check(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  core::set_log_rank(rank);
  if (rank == 0 && !transport::mpi_allows_threads())
    core::log(core::LogLevel::info,
              fmt::format("MPI provides {} only: operations advance inside calls, without a "
                          "progress thread",
                          transport::mpi_thread_level()));
}

[[noreturn]] void report_and_abort(const char* what) {
  core::log(core::LogLevel::error, what);
  transport::abort_job(1);
}

void start_trace(bool owns_mpi, const std::string& path) {
  if (!owns_mpi) {
    if (!path.empty() && !trace)
      core::log(core::LogLevel::warning,
                "RONDO_TRACE does nothing, since MPI was initialised before rondo::Environment");
    return;
  }
  try {
    trace.emplace(farewell, path);
  } catch (const std::exception& error) {
    report_and_abort(fmt::format("RONDO_TRACE: {}", error.what()).c_str());
  }
}

/// Returns whether this call initialised MPI; undoes it when something else is wrong.
bool start(int* argc, char*** argv) {
  const auto settings = core::Settings::from_environment();
  core::set_log_level(settings.log);
  const bool owns_mpi = initialize_mpi(argc, argv);
  try {
    check_launcher();
    announce();
    start_trace(owns_mpi, settings.trace);
  } catch (...) {
    if (owns_mpi) MPI_Finalize();
    throw;
  }
  return owns_mpi;
}

/// MPI_Finalize has no deadline, and Open MPI's launcher may hang when the job is aborted while
/// some ranks are in it. So all ranks meet before.
void meet_and_finalize() {
  // Longer than an operation may take and fail: a rank that is stuck in one knows more than this.
  const auto timeout = core::Settings::from_environment().timeout + std::chrono::seconds(5);
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Ibarrier(farewell, &request), "MPI_Ibarrier");
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  if (!transport::complete_by(request, deadline))
    report_and_abort(
        "this rank has finished, but not all others have by the deadline: one of them "
        "is stuck or stopped (raise RONDO_TIMEOUT if it only needs longer)");
  if (!trace->write(deadline))
    report_and_abort(
        "the ranks' traces were not gathered by the deadline: one of them has stopped");
  trace.reset();
  check(MPI_Comm_free(&farewell), "MPI_Comm_free");
  check(MPI_Finalize(), "MPI_Finalize");
}

}  // namespace

Environment::Environment(int& argc, char**& argv)
    : owns_mpi_(start(&argc, &argv)), exceptions_at_start_(std::uncaught_exceptions()) {}

Environment::Environment()
    : owns_mpi_(start(nullptr, nullptr)), exceptions_at_start_(std::uncaught_exceptions()) {}

Environment::~Environment() {
  if (!mpi_is_running()) return;
  if (std::uncaught_exceptions() > exceptions_at_start_) {
    if (inside_run_main) return;
    report_and_abort(
        "an exception leaves the scope of rondo::Environment: ending the job, so that no other "
        "rank waits for this one (use rondo::run_main to see its message)");
  }
  if (!owns_mpi_) return;
  try {
    meet_and_finalize();
  } catch (const std::exception& error) {
    report_and_abort(error.what());
  }
}

int run_main(int argc, char** argv, int (*body)(int argc, char** argv)) {
  inside_run_main = true;
  try {
    const int status = body(argc, argv);
    inside_run_main = false;
    return status;
  } catch (const std::exception& error) {
    report_and_abort(error.what());
  } catch (...) {
    report_and_abort("something that is no std::exception was thrown");
  }
}

}  // namespace rondo
