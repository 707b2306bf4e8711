#pragma once

struct CUstream_st;  // what CUDA's cudaStream_t and CUstream point to

namespace rondo {

/// Work that a device does in order, made by the program: a cudaStream_t, without CUDA's headers.
/// Whoever made it keeps it alive while calls that were given it are pending.
class Stream {
 public:
  /// Null is the default stream of the device on which the memory lies.
  Stream(CUstream_st* stream) : handle_(stream) {}

  void* handle() const { return handle_; }

 private:
  void* handle_;
};

}  // namespace rondo
