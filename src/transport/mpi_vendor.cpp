#include "transport/mpi_vendor.hpp"

#include <cstddef>
#include <utility>

#include "core/narrow.hpp"
#include "transport/keep_for_ever.hpp"
#include "transport/mpi_check.hpp"
#include "transport/mpi_types.hpp"

namespace rondo::transport {

MpiVendor::~MpiVendor() {
  if (idle()) return;
  keep_for_ever(std::move(duplicate_));
  comm_.abandon();
}

void MpiVendor::start(const VendorCall& call) {
  call_ = call;
  if (comm_.get() != MPI_COMM_NULL) return begin();
  duplicate_ = std::make_unique<MPI_Comm>(MPI_COMM_NULL);
  check(MPI_Comm_idup(original_, duplicate_.get(), &request_), "MPI_Comm_idup");
}

bool MpiVendor::step() {
  int done = 0;
  check(MPI_Test(&request_, &done, MPI_STATUS_IGNORE), "MPI_Test");
  if (done == 0) return false;
  if (duplicate_ == nullptr) return true;
  comm_ = MpiCommunicator(*std::exchange(duplicate_, nullptr));
  begin();
  return false;
}

void MpiVendor::begin() {
  const int count = core::narrow<int>(call_.count);
  // What is only moved may be 16-bit floats.
  const MPI_Datatype type = mpi_type(call_.type).value_or(MPI_UINT16_T);
  const MPI_Op op = mpi_op(call_.op).value_or(MPI_OP_NULL);
  const void* input = call_.input == call_.output ? MPI_IN_PLACE : call_.input;
  MPI_Comm comm = comm_.get();
  switch (call_.kind) {
    case VendorCall::Kind::allreduce:
      return check(MPI_Iallreduce(input, call_.output, count, type, op, comm, &request_),
                   "MPI_Iallreduce");
    case VendorCall::Kind::reduce:
      if (comm_.rank() != call_.root) input = call_.input;
      return check(MPI_Ireduce(input, call_.output, count, type, op, call_.root, comm, &request_),
                   "MPI_Ireduce");
    case VendorCall::Kind::broadcast:
      return check(MPI_Ibcast(call_.output, count, type, call_.root, comm, &request_),
                   "MPI_Ibcast");
    case VendorCall::Kind::allgather: {
      const std::size_t place = static_cast<std::size_t>(comm_.rank()) * call_.count;
      const void* own = static_cast<std::byte*>(call_.output) + place * size_of(call_.type);
      return check(MPI_Iallgather(call_.input == own ? MPI_IN_PLACE : call_.input, count, type,
                                  call_.output, count, type, comm, &request_),
                   "MPI_Iallgather");
    }
  }
}

}  // namespace rondo::transport
