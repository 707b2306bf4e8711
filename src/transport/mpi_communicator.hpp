#pragma once

#include <mpi.h>

#include "transport/mpi_check.hpp"

namespace rondo::transport {

/// An MPI communicator of our own, whose calls return errors instead of ending the job.
class MpiCommunicator {
 public:
  MpiCommunicator() = default;
  /// Takes over `comm`.
  explicit MpiCommunicator(MPI_Comm comm);
  /// A duplicate of `original`, on which nothing is changed. Collective; throws Error(timeout) if a
  /// rank has not arrived by `deadline`.
  static MpiCommunicator duplicate(MPI_Comm original, Deadline deadline);

  MpiCommunicator(MpiCommunicator&& other) noexcept;
  MpiCommunicator& operator=(MpiCommunicator&& other) noexcept;
  ~MpiCommunicator();

  MPI_Comm get() const { return comm_; }
  int rank() const;
  int size() const;

  /// Never frees it: late messages may still come, and must not meet a later communicator to which
  /// MPI gives the same number.
  void abandon() { comm_ = MPI_COMM_NULL; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

}  // namespace rondo::transport
