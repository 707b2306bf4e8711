#include <array>
#include <bit>
#include <cstring>
#include <random>

#include <fmt/core.h>

#include "runtime.hpp"

// How processes reach each other's device memory: CUDA's interprocess handles.
namespace rondo::cuda {

using device::SharedAddress;
using device::SharedAllocation;

namespace {

/// Other than a process id, alike in no two containers.
std::uint64_t this_process() {
  static const std::uint64_t number = [] {
    std::random_device device;
    return std::uint64_t{device()} << 32 | device();
  }();
  return number;
}

struct Known {
  unsigned shareable = 0;
  int device = 0;
  unsigned long long number = 0;
};

/// Zeros for what isn't CUDA's.
Known known_of(const Driver& driver, const void* address) {
  Known known;
  std::array attributes{CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE,
                        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_BUFFER_ID};
  std::array<void*, attributes.size()> values{&known.shareable, &known.device, &known.number};
  const CUresult result =
      driver.cuPointerGetAttributes(static_cast<unsigned>(attributes.size()), attributes.data(),
                                    values.data(), reinterpret_cast<CUdeviceptr>(address));
  return result == CUDA_SUCCESS ? known : Known{};
}

}  // namespace

std::optional<SharedAddress> Runtime::share(const void* address) noexcept try {
  const Known known = known_of(driver_, address);
  if (known.shareable == 0 || known.number == 0) return std::nullopt;
  const Context::Use use(context(known.device));
  CUdeviceptr begin = 0;
  std::size_t bytes = 0;
  CUipcMemHandle handle{};
  if (driver_.cuMemGetAddressRange(&begin, &bytes, reinterpret_cast<CUdeviceptr>(address)) !=
          CUDA_SUCCESS ||
      driver_.cuIpcGetMemHandle(&handle, begin) != CUDA_SUCCESS)
    return std::nullopt;
  SharedAllocation allocation{.process = this_process(), .number = known.number, .address = begin};
  static_assert(sizeof handle == sizeof allocation.handle);
  std::memcpy(allocation.handle.data(), &handle, sizeof handle);
  return SharedAddress{allocation, reinterpret_cast<CUdeviceptr>(address) - begin};
} catch (const Error&) {
  return std::nullopt;
}

std::uint64_t Runtime::allocation_at(const void* address) noexcept {
  return known_of(driver_, address).number;
}

/// CUDA opens no handles of the process itself, which has the memory in its place.
void* Runtime::open(const SharedAllocation& allocation, int device) {
  if (allocation.process == this_process()) {
    void* const memory = std::bit_cast<void*>(allocation.address);
    if (const int owner = locate(memory).device; owner != device)
      throw Error(ErrorCode::cuda,
                  fmt::format("threads of one process reach no memory of device {} on device {}",
                              owner, device));
    return memory;
  }
  const Context::Use use(context(device));
  CUipcMemHandle handle{};
  std::memcpy(&handle, allocation.handle.data(), sizeof handle);
  CUdeviceptr memory = 0;
  driver_.check(driver_.cuIpcOpenMemHandle(&memory, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
                fmt::format("cuIpcOpenMemHandle of another process's memory on device {}", device));
  return std::bit_cast<void*>(memory);
}

void Runtime::close(const SharedAllocation& allocation, int device, void* memory) noexcept try {
  if (allocation.process == this_process()) return;
  const Context::Use use(context(device));
  driver_.log_unless_ok(driver_.cuIpcCloseMemHandle(reinterpret_cast<CUdeviceptr>(memory)),
                        "cuIpcCloseMemHandle");
} catch (const Error&) {
  // The driver has gone already, and what was mapped with it.
}

}  // namespace rondo::cuda
