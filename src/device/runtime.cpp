#include "device/runtime.hpp"

#include "device/gates.hpp"

namespace rondo::device {

std::string_view name_of(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::host:
      return "host";
    case MemoryKind::pinned:
      return "pinned";
    case MemoryKind::managed:
      return "managed";
    case MemoryKind::device:
      return "device";
  }
  return "unknown";
}

Runtime::Runtime() = default;
Runtime::~Runtime() = default;

Gates& Runtime::gates(int device) {
  const std::lock_guard lock(mutex_);
  auto& gates = gates_[device];
  if (gates == nullptr) gates = std::make_unique<Gates>(*this, device);
  return *gates;
}

}  // namespace rondo::device
