#pragma once

#include <mpi.h>

#include <memory>

#include "transport/mpi_communicator.hpp"
#include "transport/vendor.hpp"

namespace rondo::transport {

/// MPI's own collectives, in their non-blocking form, on a communicator that nothing else uses: a
/// duplicate, which is made at the first call.
class MpiVendor final : public Vendor {
 public:
  /// `original` must live as long as this, and have no other collective under way during a call.
  explicit MpiVendor(MPI_Comm original) : original_(original) {}
  ~MpiVendor() override;
  MpiVendor(const MpiVendor&) = delete;
  MpiVendor& operator=(const MpiVendor&) = delete;

  void start(const VendorCall& call) override;
  bool step() override;

  /// Whether every call is complete; else `original` may never be freed.
  bool idle() const { return request_ == MPI_REQUEST_NULL; }

 private:
  void begin();

  MPI_Comm original_;
  std::unique_ptr<MPI_Comm> duplicate_;  // while it is being made; MPI writes it at any time
  MpiCommunicator comm_;
  VendorCall call_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace rondo::transport
