#pragma once

#include "blas.hpp"
#include "driver.hpp"
#include "kernels.hpp"

namespace rondo::cuda {

/// A device's primary context, the one that CUDA's runtime API uses as well. Kept for ever.
struct Context {
  const Driver& driver;
  int device;
  CUcontext handle;
  int multiprocessors;
  Kernels& kernels;
  Blas& blas;

  /// Makes the context the calling thread's own while it lives, in which nothing that is called
  /// spoils a capture that the program has begun elsewhere.
  class Use;
};

class Context::Use {
 public:
  explicit Use(const Context& context) : driver_(context.driver) {
    driver_.check(driver_.cuCtxPushCurrent(context.handle), "cuCtxPushCurrent");
    exchange_mode();
  }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  ~Use() {
    exchange_mode();
    CUcontext ignored = nullptr;
    driver_.log_unless_ok(driver_.cuCtxPopCurrent(&ignored), "cuCtxPopCurrent");
  }

 private:
  void exchange_mode() noexcept {
    driver_.log_unless_ok(driver_.cuThreadExchangeStreamCaptureMode(&mode_),
                          "cuThreadExchangeStreamCaptureMode");
  }

  const Driver& driver_;
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;  // the thread's own while it lives
};

}  // namespace rondo::cuda
