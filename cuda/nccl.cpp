#include "nccl.hpp"

#include <dlfcn.h>

#include <string>

#include <fmt/core.h>

#include <rondo/error.hpp>

#include "core/log.hpp"

namespace rondo::cuda {

namespace {

void* open(const char* library) {
  if (void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL)) return handle;
  throw Error(ErrorCode::nccl, fmt::format("there is no NCCL on this machine ({}); install it, or "
                                           "put its folder into LD_LIBRARY_PATH",
                                           dlerror()));
}

void* find(void* handle, const char* library, const char* function) {
  if (void* address = dlsym(handle, function)) return address;
  throw Error(ErrorCode::nccl, fmt::format("the NCCL {} is too old: it has no {}; Rondo was built "
                                           "for NCCL {}.{}",
                                           library, function, NCCL_MAJOR, NCCL_MINOR));
}

std::string describe(const Nccl& nccl, ncclResult_t result, std::string_view action) {
  return fmt::format("{} failed: {} ({})", action, nccl.ncclGetErrorString(result),
                     nccl.ncclGetLastError(nullptr));
}

}  // namespace

Nccl::Nccl(const char* library) {
  void* handle = open(library);
#define RONDO_NCCL_FIND(name) name = reinterpret_cast<decltype(name)>(find(handle, library, #name));
  RONDO_NCCL_FUNCTIONS(RONDO_NCCL_FIND)
#undef RONDO_NCCL_FIND
}

bool Nccl::check(ncclResult_t result, std::string_view action) const {
  if (result == ncclInProgress) return true;
  if (result != ncclSuccess) throw Error(ErrorCode::nccl, describe(*this, result, action));
  return false;
}

bool Nccl::is_pending_or_log(ncclResult_t result, std::string_view action) const noexcept {
  if (result == ncclInProgress) return true;
  if (result != ncclSuccess) core::log(core::LogLevel::error, describe(*this, result, action));
  return false;
}

}  // namespace rondo::cuda
