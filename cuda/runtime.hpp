#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "context.hpp"
#include "device/runtime.hpp"
#include "driver.hpp"
#include "kernels.hpp"

namespace rondo::cuda {

/// Memory and streams of the CUDA devices that this process sees, in their primary contexts.
class Runtime : public device::Runtime {
 public:
  /// Loads the driver and no more: CUDA is initialised when a device is first asked for. Throws
  /// Error(cuda) without a driver.
  Runtime() = default;

  std::string_view name() const override { return "cuda"; }
  int device_count() override;
  device::Location locate(const void* address) noexcept override;
  void* allocate(device::Location where, std::size_t bytes) override;
  void free(device::Location where, void* memory) noexcept override;
  std::optional<device::SharedAddress> share(const void* address) noexcept override;
  std::uint64_t allocation_at(const void* address) noexcept override;
  void* open(const device::SharedAllocation& allocation, int device) override;
  void close(const device::SharedAllocation& allocation, int device,
             void* memory) noexcept override;
  std::unique_ptr<device::Stream> make_stream(int device) override;
  std::unique_ptr<device::Stream> wrap_stream(int device, void* handle) override;
  std::unique_ptr<device::Event> make_event(int device) override;
  device::Identity identity(int device) override;
  device::GroupMaker& groups() override;

  const Context& context(int device);

 private:
  /// One for each device; initialises CUDA.
  std::vector<std::unique_ptr<Context>>& contexts();

  Driver driver_;
  Kernels kernels_{driver_};
  std::once_flag initialised_;
  std::mutex mutex_;                                // of the contexts
  std::vector<std::unique_ptr<Context>> contexts_;  // each made when first used
};

}  // namespace rondo::cuda
