#include "kernels.hpp"

#include <utility>

#include <fmt/core.h>

#include <rondo/error.hpp>

#include "images.hpp"

namespace rondo::cuda {

void Kernels::load() {
  std::vector<CUlibrary> libraries;  // all or none
  for (const Image& image : images()) {
    CUlibrary library = nullptr;
    driver_.check(
        driver_.cuLibraryLoadData(&library, image.begin, nullptr, nullptr, 0, nullptr, nullptr, 0),
        fmt::format("loading Rondo's kernels, built for {},", RONDO_CUDA_BUILT_FOR));
    libraries.push_back(library);
  }
  libraries_ = std::move(libraries);
}

CUfunction Kernels::find(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (libraries_.empty()) load();
  CUkernel& kernel = found_[name];
  for (CUlibrary library : libraries_) {
    if (kernel != nullptr) break;
    const CUresult result = driver_.cuLibraryGetKernel(&kernel, library, name.c_str());
    if (result == CUDA_ERROR_NOT_FOUND)
      kernel = nullptr;
    else
      driver_.check(result, "cuLibraryGetKernel of " + name);
  }
  if (kernel == nullptr) throw Error(ErrorCode::cuda, fmt::format("Rondo has no kernel {}", name));
  return reinterpret_cast<CUfunction>(kernel);  // which all functions take
}

}  // namespace rondo::cuda
