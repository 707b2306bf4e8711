#pragma once

namespace rondo::transport {

/// Something that must act before MPI_Finalize takes MPI away.
class FinalizeListener {
 public:
  /// Called once, at the start of MPI_Finalize, on the thread that calls it; MPI still works. No
  /// other thread may be inside the listener then.
  virtual void before_finalize() noexcept = 0;

 protected:
  ~FinalizeListener() = default;
};

/// Any thread may call these. MPI must be running when a listener is added. Throws Error(mpi).
void add_finalize_listener(FinalizeListener& listener);
void remove_finalize_listener(FinalizeListener& listener) noexcept;

}  // namespace rondo::transport
