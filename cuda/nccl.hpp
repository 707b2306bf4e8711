#pragma once

#include <nccl.h>

#include <string_view>

namespace rondo::cuda {

// NCCL's functions that are used.
#define RONDO_NCCL_FUNCTIONS(FUNCTION) \
  FUNCTION(ncclGetVersion)             \
  FUNCTION(ncclGetErrorString)         \
  FUNCTION(ncclGetLastError)           \
  FUNCTION(ncclGetUniqueId)            \
  FUNCTION(ncclCommInitRankConfig)     \
  FUNCTION(ncclCommGetAsyncError)      \
  FUNCTION(ncclCommFinalize)           \
  FUNCTION(ncclCommDestroy)            \
  FUNCTION(ncclCommAbort)              \
  FUNCTION(ncclRedOpCreatePreMulSum)   \
  FUNCTION(ncclRedOpDestroy)           \
  FUNCTION(ncclAllReduce)              \
  FUNCTION(ncclReduce)                 \
  FUNCTION(ncclBroadcast)              \
  FUNCTION(ncclReduceScatter)          \
  FUNCTION(ncclAllGather)              \
  FUNCTION(ncclSend)                   \
  FUNCTION(ncclRecv)                   \
  FUNCTION(ncclGroupStart)             \
  FUNCTION(ncclGroupEnd)

/// NCCL, loaded while the program runs. Never unloaded.
struct Nccl {
#define RONDO_NCCL_MEMBER(name) decltype(&::name) name = nullptr;
  RONDO_NCCL_FUNCTIONS(RONDO_NCCL_MEMBER)
#undef RONDO_NCCL_MEMBER

  /// Throws Error(nccl) if the library isn't there, or lacks a function.
  explicit Nccl(const char* library = "libnccl.so.2");

  /// Throws Error(nccl) unless `result` is a success, or goes on in the background. Whether it
  /// does.
  bool check(ncclResult_t result, std::string_view action) const;
  /// The same for where nothing may be thrown: logs instead, and is false then.
  bool is_pending_or_log(ncclResult_t result, std::string_view action) const noexcept;
};

}  // namespace rondo::cuda
