#include "transport/mpi_info.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "transport/mpi_check.hpp"

namespace rondo::transport {

namespace {

int thread_level() {
  int level = MPI_THREAD_SINGLE;
  check(MPI_Query_thread(&level), "MPI_Query_thread");
  return level;
}

}  // namespace

std::string mpi_library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  check(MPI_Get_library_version(text.data(), &length), "MPI_Get_library_version");
  std::string version(text.data());  // the length counts the zero in Open MPI, not in MPICH
  version.resize(std::min(version.find('\n'), version.size()));
  std::replace(version.begin(), version.end(), '\t', ' ');
  return version;
}

std::string mpi_library_name() {
  std::string name = mpi_library_version();
  name.resize(std::min(name.find_first_of("0123456789,:"), name.size()));
  for (const std::string_view ending : {" ", "v", "Version", " "})
    while (name.ends_with(ending)) name.resize(name.size() - ending.size());
  return name;
}

std::string mpi_thread_level() {
  const int level = thread_level();
  if (level == MPI_THREAD_MULTIPLE) return "MPI_THREAD_MULTIPLE";
  if (level == MPI_THREAD_SERIALIZED) return "MPI_THREAD_SERIALIZED";
  return level == MPI_THREAD_FUNNELED ? "MPI_THREAD_FUNNELED" : "MPI_THREAD_SINGLE";
}

bool mpi_allows_threads() { return thread_level() == MPI_THREAD_MULTIPLE; }

}  // namespace rondo::transport
