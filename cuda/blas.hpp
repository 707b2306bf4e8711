#pragma once

#include <cublas_v2.h>
#include <cuda.h>

#include <mutex>

#include "device/runtime.hpp"

namespace rondo::cuda {

/// cuBLAS on one device. Its library is loaded at the first product, as the driver is.
class Blas {
 public:
  explicit Blas(int device) : device_(device) {}

  /// Any thread may call it, in the device's context. Throws Error(cuda) saying what is missing
  /// where there is no cuBLAS.
  void multiply(CUstream stream, const device::Multiplication& work);

 private:
  struct Library;

  static const Library& library();
  void check(cublasStatus_t status, const char* action) const;

  int device_;
  std::mutex mutex_;  // of the handle, which has one stream at a time
  cublasHandle_t handle_ = nullptr;
};

}  // namespace rondo::cuda
