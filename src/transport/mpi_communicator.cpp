#include "transport/mpi_communicator.hpp"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "transport/keep_for_ever.hpp"
#include "transport/mpi_check.hpp"

namespace rondo::transport {

MpiCommunicator::MpiCommunicator(MPI_Comm comm) : comm_(comm) {
  check(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
}

MpiCommunicator MpiCommunicator::duplicate(MPI_Comm original, Deadline deadline) {
  // On the heap, since MPI may still write it after we have given up.
  auto copy = std::make_unique<MPI_Comm>(MPI_COMM_NULL);
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Comm_idup(original, copy.get(), &request), "MPI_Comm_idup");
  if (!complete_by(request, deadline)) {
    keep_for_ever(std::move(copy));
    int size = 0;
    check(MPI_Comm_size(original, &size), "MPI_Comm_size");
    throw Error(
        ErrorCode::timeout,
        fmt::format("making a communicator of {} ranks did not finish in time: at least one "
                    "rank has not called the constructor (or split); all ranks of the MPI "
                    "communicator must",
                    size));
  }
  return MpiCommunicator(*copy);
}

MpiCommunicator::MpiCommunicator(MpiCommunicator&& other) noexcept
    : comm_(std::exchange(other.comm_, MPI_COMM_NULL)) {}

MpiCommunicator& MpiCommunicator::operator=(MpiCommunicator&& other) noexcept {
  std::swap(comm_, other.comm_);
  return *this;
}

MpiCommunicator::~MpiCommunicator() {
  // Local in Open MPI and MPICH, though the standard calls it collective. A failure is of no
  // consequence: the communicator is not used any more.
  if (comm_ != MPI_COMM_NULL && mpi_is_running()) MPI_Comm_free(&comm_);
}

int MpiCommunicator::rank() const {
  int rank = 0;
  check(MPI_Comm_rank(comm_, &rank), "MPI_Comm_rank");
  return rank;
}

int MpiCommunicator::size() const {
  int size = 0;
  check(MPI_Comm_size(comm_, &size), "MPI_Comm_size");
  return size;
}

}  // namespace rondo::transport
