#include "transport/launcher.hpp"

#include <array>
#include <cstdlib>

namespace rondo::transport {

namespace {

struct Variable {
  const char* launcher;
  const char* name;
  bool is_size;  // else the rank, of which all but 0 tell that there are several
};

constexpr std::array kVariables{
    Variable{"Open MPI's mpirun", "OMPI_COMM_WORLD_SIZE", true},
    Variable{"MVAPICH's mpirun", "MV2_COMM_WORLD_SIZE", true},
    Variable{"a PMI launcher (such as MPICH's or Intel MPI's mpiexec)", "PMI_SIZE", true},
    Variable{"Slurm's srun", "SLURM_STEP_NUM_TASKS", true},
    Variable{"a PMI launcher (such as MPICH's or Intel MPI's mpiexec)", "PMI_RANK", false},
    Variable{"a PMIx launcher (such as prterun or srun)", "PMIX_RANK", false},
};

}  // namespace

std::optional<LauncherHint> launched_as_one_of_several(const Lookup& lookup) {
  std::optional<LauncherHint> hint;
  for (const Variable& variable : kVariables) {
    const char* const value = lookup(variable.name);
    if (value == nullptr) continue;
    const long number = std::strtol(value, nullptr, 10);
    if (variable.is_size && number == 1) return std::nullopt;
    if (!hint && number > (variable.is_size ? 1 : 0))
      hint = {variable.launcher, variable.name, value};
  }
  return hint;
}

}  // namespace rondo::transport
