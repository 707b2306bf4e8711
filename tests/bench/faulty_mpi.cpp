// Loaded before MPI: one element of each all-reduce of floats is wrong on one rank, as a broken
// implementation would have it. Only allreduce_bench's own traffic uses other types.
#include <mpi.h>

extern "C" int MPI_Allreduce(const void* input, void* output, int count, MPI_Datatype type,
                             MPI_Op op, MPI_Comm comm) {
  const int status = PMPI_Allreduce(input, output, count, type, op, comm);
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  if (type == MPI_FLOAT && rank == 1) static_cast<float*>(output)[count - 1] += 1;
  return status;
}
