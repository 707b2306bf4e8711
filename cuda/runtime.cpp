#include "runtime.hpp"

#include <array>
#include <bit>
#include <cstdlib>
#include <new>
#include <string>

#include <fmt/core.h>

#include "groups.hpp"
#include "stream.hpp"

namespace rondo::cuda {

using device::Location;
using device::MemoryKind;

std::vector<std::unique_ptr<Context>>& Runtime::contexts() {
  std::call_once(initialised_, [&] {
    const CUresult result = driver_.cuInit(0);
    int count = 0;
    if (result == CUDA_SUCCESS) driver_.check(driver_.cuDeviceGetCount(&count), "cuDeviceGetCount");
    if (result == CUDA_ERROR_NO_DEVICE || (result == CUDA_SUCCESS && count == 0))
      throw Error(ErrorCode::cuda,
                  "the CUDA driver sees no device; look at nvidia-smi and CUDA_VISIBLE_DEVICES, "
                  "or use host memory");
    driver_.check(result, "cuInit");
    contexts_.resize(static_cast<std::size_t>(count));
  });
  return contexts_;
}

int Runtime::device_count() { return static_cast<int>(contexts().size()); }

const Context& Runtime::context(int device) {
  if (device < 0 || device >= device_count())
    throw Error(ErrorCode::usage, fmt::format("there is no CUDA device {}; this process sees {}",
                                              device, device_count()));
  const std::lock_guard lock(mutex_);
  auto& context = contexts_[static_cast<std::size_t>(device)];
  if (context == nullptr) {
    CUdevice id = 0;
    CUcontext handle = nullptr;
    driver_.check(driver_.cuDeviceGet(&id, device), "cuDeviceGet");
    driver_.check(driver_.cuDevicePrimaryCtxRetain(&handle, id),
                  fmt::format("cuDevicePrimaryCtxRetain of device {}", device));
    int multiprocessors = 0;
    driver_.check(driver_.cuDeviceGetAttribute(&multiprocessors,
                                               CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, id),
                  "cuDeviceGetAttribute");
    // Kept for ever, as the context is: cuBLAS may have been unloaded at the end of a process.
    auto* const blas = new Blas(device);
    context = std::make_unique<Context>(
        Context{driver_, device, handle, multiprocessors, kernels_, *blas});
  }
  return *context;
}

Location Runtime::locate(const void* address) noexcept {
  unsigned type = 0;
  unsigned managed = 0;
  int device = 0;
  std::array attributes{CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
  std::array<void*, attributes.size()> values{&type, &managed, &device};
  // This form of the query leaves zeros for an address that CUDA doesn't know. It fails while
  // nobody has initialised CUDA, when no address can be CUDA's.
  const CUresult result =
      driver_.cuPointerGetAttributes(static_cast<unsigned>(attributes.size()), attributes.data(),
                                     values.data(), reinterpret_cast<CUdeviceptr>(address));
  if (result != CUDA_SUCCESS || type == 0) return {};
  if (managed != 0) return {MemoryKind::managed, device};
  return {type == CU_MEMORYTYPE_HOST ? MemoryKind::pinned : MemoryKind::device, device};
}

void* Runtime::allocate(Location where, std::size_t bytes) {
  if (bytes == 0) return nullptr;
  if (where.kind == MemoryKind::host) {
    if (void* memory = std::malloc(bytes)) return memory;
    throw std::bad_alloc();
  }
  const Context::Use use(context(where.device));
  CUdeviceptr address = 0;
  void* pinned = nullptr;
  CUresult result = CUDA_SUCCESS;
  if (where.kind == MemoryKind::pinned)
    result = driver_.cuMemHostAlloc(&pinned, bytes, CU_MEMHOSTALLOC_PORTABLE);
  else if (where.kind == MemoryKind::managed)
    result = driver_.cuMemAllocManaged(&address, bytes, CU_MEM_ATTACH_GLOBAL);
  else
    result = driver_.cuMemAlloc(&address, bytes);
  driver_.check(result, fmt::format("allocation of {} bytes of {} memory on device {}", bytes,
                                    name_of(where.kind), where.device));
  return pinned != nullptr ? pinned : std::bit_cast<void*>(address);
}

void Runtime::free(Location where, void* memory) noexcept {
  if (memory == nullptr) return;
  if (where.kind == MemoryKind::host) return std::free(memory);
  try {
    const Context::Use use(context(where.device));
    driver_.log_unless_ok(where.kind == MemoryKind::pinned
                              ? driver_.cuMemFreeHost(memory)
                              : driver_.cuMemFree(reinterpret_cast<CUdeviceptr>(memory)),
                          "freeing memory");
  } catch (const Error&) {
    // The driver has gone already, and the memory with it.
  }
}

std::unique_ptr<device::Stream> Runtime::make_stream(int device) {
  return std::make_unique<Stream>(context(device));
}

std::unique_ptr<device::Stream> Runtime::wrap_stream(int device, void* handle) {
  return std::make_unique<Stream>(context(device), static_cast<CUstream>(handle));
}

std::unique_ptr<device::Event> Runtime::make_event(int device) {
  return std::make_unique<Event>(context(device));
}

device::Identity Runtime::identity(int device) {
  context(device);
  CUdevice id = 0;
  CUuuid uuid{};
  driver_.check(driver_.cuDeviceGet(&id, device), "cuDeviceGet");
  driver_.check(driver_.cuDeviceGetUuid(&uuid, id), "cuDeviceGetUuid");
  return std::bit_cast<device::Identity>(uuid);
}

device::GroupMaker& Runtime::groups() { return nccl_groups(*this); }

}  // namespace rondo::cuda

namespace rondo::device {

Runtime& cuda_runtime() {
  // Never destroyed: requests and buffers of static lifetime may still use it.
  static auto* const runtime = new cuda::Runtime;
  return *runtime;
}

}  // namespace rondo::device
