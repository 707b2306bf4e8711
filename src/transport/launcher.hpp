#pragma once

#include <functional>
#include <optional>
#include <string>

namespace rondo::transport {

/// What a launcher said in an environment variable.
struct LauncherHint {
  std::string launcher;  // "Open MPI's mpirun"
  std::string variable;  // "OMPI_COMM_WORLD_SIZE"
  std::string value;     // "4"
};

/// The value of an environment variable; null when it is not set.
using Lookup = std::function<const char*(const char* name)>;

/// The hint that this process is one of several, unless another launcher says that it is alone (a
/// job of one process started from within a larger job).
std::optional<LauncherHint> launched_as_one_of_several(const Lookup& lookup);

}  // namespace rondo::transport
