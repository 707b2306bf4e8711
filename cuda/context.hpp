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

  /// Makes the context the calling thread's own while it lives.
  class Use;
};

class Context::Use {
 public:
  explicit Use(const Context& context) : driver_(context.driver) {
    driver_.check(driver_.cuCtxPushCurrent(context.handle), "cuCtxPushCurrent");
  }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  ~Use() {
    CUcontext ignored = nullptr;
    driver_.log_unless_ok(driver_.cuCtxPopCurrent(&ignored), "cuCtxPopCurrent");
  }

 private:
  const Driver& driver_;
};

}  // namespace rondo::cuda
