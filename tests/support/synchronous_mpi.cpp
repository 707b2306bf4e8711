// Linked into a test program, this makes every MPI send synchronous: it completes only once its
// receive has been posted, whatever its size. Code that relies on MPI's buffering then hangs.
#include <mpi.h>

extern "C" {

int MPI_Isend(const void* data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
              MPI_Request* request) {
  return PMPI_Issend(data, count, type, peer, tag, comm, request);
}

int MPI_Send(const void* data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm) {
  return PMPI_Ssend(data, count, type, peer, tag, comm);
}

}  // extern "C"
