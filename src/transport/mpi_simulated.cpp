#include "transport/mpi_simulated.hpp"

#include <rondo/error.hpp>

#include "core/narrow.hpp"
#include "transport/mpi_check.hpp"
#include "transport/mpi_connect.hpp"

namespace rondo::transport {

namespace {

MpiCommunicator duplicate(MPI_Comm original) {
  MPI_Comm copy = MPI_COMM_NULL;
  check(MPI_Comm_dup(original, &copy), "MPI_Comm_dup");
  return MpiCommunicator(copy);
}

}  // namespace

std::unique_ptr<Transport> connect(MPI_Comm comm, std::chrono::milliseconds) {
  return std::make_unique<SimulatedTransport>(comm);
}

SimulatedTransport::SimulatedTransport(MPI_Comm comm) : SimulatedTransport(duplicate(comm)) {}

SimulatedTransport::SimulatedTransport(MpiCommunicator comm)
    : comm_(std::move(comm)), rank_(comm_.rank()), topology_(Topology::spread(comm_.size())) {}

Ticket SimulatedTransport::send(Rank peer, Tag tag, const void* data, std::size_t bytes) {
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Isend(data, core::narrow<int>(bytes), MPI_BYTE, peer, tag, comm_.get(), &request),
        "MPI_Isend");
  return add(request);
}

Ticket SimulatedTransport::receive(Rank peer, Tag tag, void* data, std::size_t bytes,
                                   Sizes /*sizes*/) {
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Irecv(data, core::narrow<int>(bytes), MPI_BYTE, peer, tag, comm_.get(), &request),
        "MPI_Irecv");
  return add(request);
}

Ticket SimulatedTransport::add(MPI_Request request) {
  if (free_.empty()) {
    requests_.push_back(request);
    return static_cast<Ticket>(requests_.size() - 1);
  }
  const Ticket ticket = free_.back();
  free_.pop_back();
  requests_[ticket] = request;
  return ticket;
}

bool SimulatedTransport::test(Ticket ticket) {
  if (requests_[ticket] != MPI_REQUEST_NULL) return false;
  free_.push_back(ticket);
  return true;
}

void SimulatedTransport::pause(core::Backoff&) {
  int index = MPI_UNDEFINED;
  check(
      MPI_Waitany(core::narrow<int>(requests_.size()), requests_.data(), &index, MPI_STATUS_IGNORE),
      "MPI_Waitany");
  if (index == MPI_UNDEFINED)
    throw Error(ErrorCode::system, "a simulated rank waits, but for no message");
}

void SimulatedTransport::cancel(Ticket ticket) {
  if (requests_[ticket] != MPI_REQUEST_NULL)
    check(MPI_Request_free(&requests_[ticket]), "MPI_Request_free");
  requests_[ticket] = MPI_REQUEST_NULL;
  free_.push_back(ticket);
}

std::unique_ptr<Transport> SimulatedTransport::split(int color, int key) {
  MPI_Comm group = MPI_COMM_NULL;
  check(MPI_Comm_split(comm_.get(), color < 0 ? MPI_UNDEFINED : color, key, &group),
        "MPI_Comm_split");
  if (group == MPI_COMM_NULL) return nullptr;
  return std::unique_ptr<Transport>(new SimulatedTransport(MpiCommunicator(group)));
}

void SimulatedTransport::abort(int status) { abort_job(status); }

}  // namespace rondo::transport
