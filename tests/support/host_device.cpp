#include "support/host_device.hpp"

#include <cstdlib>
#include <cstring>

#include <fmt/core.h>

#include "support/host_stream.hpp"

namespace rondo::testing {

using device::Location;
using device::MemoryKind;

HostDevice::HostDevice(int devices) : devices_(devices) {}
HostDevice::~HostDevice() = default;

void HostDevice::check_device(int device) const {
  if (device < 0 || device >= devices_)
    throw Error(ErrorCode::usage,
                fmt::format("there is no host device {}; there are {}", device, devices_));
}

Location HostDevice::locate(const void* address) noexcept { return memory_.locate(address); }

void* HostDevice::allocate(Location where, std::size_t bytes) {
  if (bytes == 0) return nullptr;
  if (where.kind == MemoryKind::host) return std::malloc(bytes);
  check_device(where.device);
  if (until_failed_allocation_.fetch_sub(1) == 0)
    throw Error(ErrorCode::cuda, fmt::format("allocation of {} bytes of {} memory on device {} "
                                             "failed: injected",
                                             bytes, name_of(where.kind), where.device));
  return memory_.allocate(where, bytes);
}

void HostDevice::free(Location where, void* memory) noexcept {
  if (where.kind == MemoryKind::host)
    std::free(memory);
  else
    memory_.free(memory);
}

std::optional<device::SharedAddress> HostDevice::share(const void* address) noexcept {
  return memory_.share(address);
}

std::uint64_t HostDevice::allocation_at(const void* address) noexcept {
  return memory_.number_at(address);
}

void* HostDevice::open(const device::SharedAllocation& allocation, int device) {
  check_device(device);
  if (until_failed_open_.fetch_sub(1) == 0)
    throw Error(ErrorCode::cuda, "opening another rank's memory failed: injected");
  return memory_.open_again(allocation.number);
}

void HostDevice::close(const device::SharedAllocation& /*allocation*/, int /*device*/,
                       void* memory) noexcept {
  memory_.free(memory);
}

std::unique_ptr<device::Stream> HostDevice::make_stream(int device) {
  check_device(device);
  return std::make_unique<HostStream>(*this);
}

std::unique_ptr<device::Stream> HostDevice::wrap_stream(int device, void* handle) {
  check_device(device);
  auto* const stream = static_cast<HostStream*>(handle);
  return std::make_unique<WrappedStream>(stream != nullptr ? *stream : default_stream(device));
}

HostStream& HostDevice::default_stream(int device) {
  const std::lock_guard lock(mutex_);
  auto& stream = default_streams_[device];
  if (stream == nullptr) stream = std::make_unique<HostStream>(*this);
  return *stream;
}

device::Identity HostDevice::identity(int device) {
  check_device(device);
  return {static_cast<std::byte>(device)};
}

device::GroupMaker& HostDevice::groups() {
  if (groups_ == nullptr) throw Error(ErrorCode::nccl, "the host device has no groups");
  return *groups_;
}

std::unique_ptr<device::Event> HostDevice::make_event(int device) {
  check_device(device);
  return std::make_unique<HostEvent>();
}

}  // namespace rondo::testing
