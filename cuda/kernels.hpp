#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "driver.hpp"

namespace rondo::cuda {

/// The kernels of cuda/kernels, which the library holds compiled for several architectures. Any
/// thread may use it. Loaded when first asked for, never unloaded.
class Kernels {
 public:
  explicit Kernels(const Driver& driver) : driver_(driver) {}

  /// For every device. Throws Error(cuda) if there is none for the device of the current context.
  CUfunction find(const std::string& name);

 private:
  void load();

  const Driver& driver_;
  std::mutex mutex_;
  std::vector<CUlibrary> libraries_;
  std::map<std::string, CUkernel> found_;
};

}  // namespace rondo::cuda
