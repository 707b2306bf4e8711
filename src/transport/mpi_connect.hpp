#pragma once

#include <mpi.h>

#include <chrono>
#include <memory>

#include "transport/transport.hpp"

namespace rondo::transport {

/// A transport among the ranks of `comm`, of which nothing is changed. Collective; waits for the
/// other ranks until `patience` is over. Throws what the transport's constructor throws.
///
/// Which transport it is, is decided when Rondo is built: MpiTransport, or SimulatedTransport with
/// RONDO_SIMULATED.
std::unique_ptr<Transport> connect(MPI_Comm comm, std::chrono::milliseconds patience);

}  // namespace rondo::transport
