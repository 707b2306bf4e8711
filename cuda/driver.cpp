#include "driver.hpp"

#include <dlfcn.h>

#include <string>

#include <fmt/core.h>

#include <rondo/error.hpp>

#include "core/log.hpp"

namespace rondo::cuda {

namespace {

void* open(const char* library) {
  if (void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL)) return handle;
  throw Error(ErrorCode::cuda,
              fmt::format("there is no CUDA driver on this machine ({}); install NVIDIA's driver, "
                          "or use host memory",
                          dlerror()));
}

void* find(void* handle, const char* library, const char* function) {
  if (void* address = dlsym(handle, function)) return address;
  throw Error(ErrorCode::cuda,
              fmt::format("the CUDA driver {} is too old: it has no {}; Rondo was built for CUDA "
                          "{}.{}",
                          library, function, CUDA_VERSION / 1000, CUDA_VERSION % 1000 / 10));
}

std::string describe(const Driver& driver, CUresult result, std::string_view action) {
  const char* name = nullptr;
  const char* text = nullptr;
  driver.cuGetErrorName(result, &name);
  driver.cuGetErrorString(result, &text);
  return fmt::format("{} failed: {} ({})", action, name != nullptr ? name : "unknown error",
                     text != nullptr ? text : std::to_string(result));
}

}  // namespace

Driver::Driver(const char* library) {
  void* handle = open(library);
#define RONDO_CUDA_TEXT(name) #name
#define RONDO_CUDA_FIND(name) \
  name = reinterpret_cast<decltype(name)>(find(handle, library, RONDO_CUDA_TEXT(name)));
  RONDO_CUDA_FUNCTIONS(RONDO_CUDA_FIND)
#undef RONDO_CUDA_FIND
#undef RONDO_CUDA_TEXT
}

void Driver::check(CUresult result, std::string_view action) const {
  if (result != CUDA_SUCCESS) throw Error(ErrorCode::cuda, describe(*this, result, action));
}

void Driver::log_unless_ok(CUresult result, std::string_view action) const noexcept {
  // At the end of a process the driver may have gone first, and with it all that it held.
  if (result == CUDA_SUCCESS || result == CUDA_ERROR_DEINITIALIZED) return;
  core::log(core::LogLevel::error, describe(*this, result, action));
}

}  // namespace rondo::cuda
