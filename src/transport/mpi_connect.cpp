#include "transport/mpi_connect.hpp"

#include "transport/mpi_transport.hpp"

namespace rondo::transport {

std::unique_ptr<Transport> connect(MPI_Comm comm, std::chrono::milliseconds patience) {
  return std::make_unique<MpiTransport>(comm, MpiOptions{.deadline = patience});
}

}  // namespace rondo::transport
