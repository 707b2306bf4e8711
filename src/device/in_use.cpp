#include "device/in_use.hpp"

#include "core/log.hpp"

namespace rondo::device {

std::atomic<Runtime*> detail::in_use = nullptr;

void use(Runtime* runtime) noexcept { detail::in_use.store(runtime, std::memory_order_release); }

void use_cuda_if_present() noexcept {
  [[maybe_unused]] static const bool looked = [] {
    try {
      use(&cuda_runtime());
    } catch (const Error& error) {
      core::log(core::LogLevel::debug, error.what());
    }
    return true;
  }();
}

}  // namespace rondo::device
