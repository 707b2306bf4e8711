#pragma once

#include <cuda.h>

#include <string_view>

namespace rondo::cuda {

// The driver's functions that are used, by the names that <cuda.h> gives to their versions.
#define RONDO_CUDA_FUNCTIONS(FUNCTION)        \
  FUNCTION(cuInit)                            \
  FUNCTION(cuGetErrorName)                    \
  FUNCTION(cuGetErrorString)                  \
  FUNCTION(cuDeviceGet)                       \
  FUNCTION(cuDeviceGetCount)                  \
  FUNCTION(cuDeviceGetAttribute)              \
  FUNCTION(cuDeviceGetUuid)                   \
  FUNCTION(cuDevicePrimaryCtxRetain)          \
  FUNCTION(cuCtxPushCurrent)                  \
  FUNCTION(cuCtxPopCurrent)                   \
  FUNCTION(cuPointerGetAttributes)            \
  FUNCTION(cuMemGetAddressRange)              \
  FUNCTION(cuIpcGetMemHandle)                 \
  FUNCTION(cuIpcOpenMemHandle)                \
  FUNCTION(cuIpcCloseMemHandle)               \
  FUNCTION(cuMemAlloc)                        \
  FUNCTION(cuMemFree)                         \
  FUNCTION(cuMemAllocManaged)                 \
  FUNCTION(cuMemHostAlloc)                    \
  FUNCTION(cuMemFreeHost)                     \
  FUNCTION(cuMemcpyAsync)                     \
  FUNCTION(cuLibraryLoadData)                 \
  FUNCTION(cuLibraryGetKernel)                \
  FUNCTION(cuLaunchKernel)                    \
  FUNCTION(cuStreamCreateWithPriority)        \
  FUNCTION(cuStreamDestroy)                   \
  FUNCTION(cuStreamQuery)                     \
  FUNCTION(cuStreamSynchronize)               \
  FUNCTION(cuStreamWaitEvent)                 \
  FUNCTION(cuStreamWaitValue32)               \
  FUNCTION(cuStreamIsCapturing)               \
  FUNCTION(cuThreadExchangeStreamCaptureMode) \
  FUNCTION(cuEventCreate)                     \
  FUNCTION(cuEventDestroy)                    \
  FUNCTION(cuEventQuery)                      \
  FUNCTION(cuEventRecord)                     \
  FUNCTION(cuEventSynchronize)

/// The CUDA driver, loaded while the program runs. Never unloaded.
struct Driver {
#define RONDO_CUDA_MEMBER(name) decltype(&::name) name = nullptr;
  RONDO_CUDA_FUNCTIONS(RONDO_CUDA_MEMBER)
#undef RONDO_CUDA_MEMBER

  /// Throws Error(cuda) if the driver isn't there, or lacks a function.
  explicit Driver(const char* library = "libcuda.so.1");

  /// Throws Error(cuda) unless `result` is a success: "cuMemAlloc of 64 bytes on device 0 failed:
  /// CUDA_ERROR_OUT_OF_MEMORY (out of memory)" for action "cuMemAlloc of 64 bytes on device 0".
  void check(CUresult result, std::string_view action) const;
  /// The same for where nothing may be thrown: logs instead.
  void log_unless_ok(CUresult result, std::string_view action) const noexcept;
};

}  // namespace rondo::cuda
