#pragma once

#include <string>

namespace rondo::transport {

/// The MPI that this program runs with, such as "Open MPI v4.1.4, package: …" (its first line). May
/// be called at any time.
std::string mpi_library_version();

/// Which MPI that is, whatever its version: "Open MPI", "MPICH", "Intel(R) MPI Library". May be
/// called at any time.
std::string mpi_library_name();

/// "MPI_THREAD_MULTIPLE", … as MPI provides it. MPI must be running.
std::string mpi_thread_level();

/// True if any thread may call MPI at any time (MPI_THREAD_MULTIPLE). MPI must be running.
bool mpi_allows_threads();

}  // namespace rondo::transport
