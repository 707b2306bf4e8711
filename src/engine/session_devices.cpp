#include <algorithm>

#include "device/in_use.hpp"
#include "engine/memory_kinds.hpp"
#include "engine/session-inl.hpp"

// What a session does with buffers in the memory of devices.
namespace rondo::engine {

void Session::run_anywhere(const Call& call, const Options& options, device::Runtime& devices) {
  const std::optional<int> device = device_of(call, transport_->rank(), devices);
  if (!device) return run_held(call, options);
  check_terms(call, terms_of(options), transport_->rank(), transport_->size());
  check_addresses(call, transport_->rank());
  run_staged(call, options, devices, *device);
}

/// Room for an element of every block at least.
std::size_t Session::part_bytes() const {
  constexpr std::size_t kBuffers = 2;
  constexpr std::size_t kLargestElement = 8;
  return std::max(settings_.staging_bytes,
                  kBuffers * kLargestElement * static_cast<std::size_t>(transport_->size()));
}

void Session::run_staged(const Call& call, const Options& options, device::Runtime& devices,
                         int device) {
  const Terms terms = terms_of(options);
  const auto after = devices.make_event(device);
  devices.wrap_stream(device, nullptr)->record(*after);
  staged_->start(call, terms, sequence_ + 1, *after, stagings_->on(devices, device, part_bytes()));
  run_series(call, *staged_, staged_->parts(), terms);
}

std::optional<Launch::OnDevice> Session::begin_on_device(const Call& call,
                                                         std::uint64_t& operations) {
  device::Runtime* const devices = device::in_use();
  if (devices == nullptr) return std::nullopt;
  const std::optional<int> device = device_of(call, transport_->rank(), *devices);
  if (!device) return std::nullopt;
  PartedCall parts(transport_->rank(), transport_->size());
  parts.cut(call, part_bytes());
  operations = parts.parts();
  launches_->get_ready(*devices, *device, part_bytes());
  Launch::OnDevice result{devices, *device, devices->make_event(*device)};
  devices->wrap_stream(*device, nullptr)->record(*result.after);
  return result;
}

void Session::refuse_devices(std::string_view call, std::string_view argument,
                             ConstBuffer data) const {
  if (device::Runtime* const devices = device::in_use())
    refuse_device_memory(call, argument, data, transport_->rank(), *devices);
}

}  // namespace rondo::engine
