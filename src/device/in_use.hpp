#pragma once

#include <atomic>

#include "device/runtime.hpp"

namespace rondo::device {

namespace detail {
extern std::atomic<Runtime*> in_use;
}

/// The devices in whose memory a buffer may lie; null where there are none, so that host memory
/// pays one look at this.
inline Runtime* in_use() noexcept { return detail::in_use.load(std::memory_order_acquire); }

/// Makes `runtime` the devices in use, of the whole process. It must outlive all communicators.
void use(Runtime* runtime) noexcept;

/// Makes CUDA's devices those in use where there is a driver, whether or not the program calls CUDA
/// itself. Initialises nothing; loads the driver at its first call.
void use_cuda_if_present() noexcept;

}  // namespace rondo::device
