#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "context.hpp"
#include "device/runtime.hpp"
#include "driver.hpp"

namespace rondo::cuda {

/// Memory and streams of the CUDA devices that this process sees, in their primary contexts.
class Runtime : public device::Runtime {
 public:
  /// Throws Error(cuda) without driver or devices.
  Runtime();

  std::string_view name() const override { return "cuda"; }
  int device_count() override { return static_cast<int>(contexts_.size()); }
  device::Location locate(const void* address) noexcept override;
  void* allocate(device::Location where, std::size_t bytes) override;
  void free(device::Location where, void* memory) noexcept override;
  std::unique_ptr<device::Stream> make_stream(int device) override;
  std::unique_ptr<device::Event> make_event(int device) override;

 private:
  const Context& context(int device);

  Driver driver_;
  std::mutex mutex_;                                // of what follows
  std::vector<std::unique_ptr<Context>> contexts_;  // made when first used; contexts stay in place
};

}  // namespace rondo::cuda
