#include "core/digest.hpp"
#include "device/in_use.hpp"
#include "device/staging.hpp"
#include "engine/memory_kinds.hpp"
#include "engine/session-inl.hpp"

// What a session does with buffers in the memory of devices.
namespace rondo::engine {

void Session::run_anywhere(const Call& call, const Options& options, device::Runtime& devices) {
  const std::optional<int> device = device_of(call, transport_->rank(), devices);
  if (!device) return run_held(call, options);
  check_terms(call, terms_of(options), transport_->rank(), transport_->size());
  check_addresses(call, transport_->rank());
  run_staged(call, options, staging_on(devices, *device));
}

device::Staging& Session::staging_on(device::Runtime& devices, int device) {
  const bool fits =
      staging_ != nullptr && &staging_->runtime() == &devices && staging_->device() == device;
  if (!fits) staging_ = std::make_unique<device::Staging>(devices, device);
  return *staging_;
}

void Session::run_staged(const Call& call, const Options& options, device::Staging& staging) {
  const std::size_t element = size_of(call.input.type);
  staging.run(call.input.data, call.output.data, call.input.bytes(),
              [&](const device::Staging::Chunk& chunk) {
                const Buffer part(chunk.data, chunk.bytes / element, call.input.type);
                core::Digest details;
                details.mix(call.details);
                details.mix(call.input.count);
                details.mix(chunk.offset);
                Call of_part = call;
                of_part.input = part;
                of_part.output = part;
                of_part.details = details.value();
                of_part.on_device = true;
                run_held(of_part, options);
              });
}

void Session::refuse_devices(std::string_view call, std::string_view argument,
                             const void* data) const {
  if (device::Runtime* const devices = device::in_use())
    refuse_device_memory(call, argument, data, transport_->rank(), *devices);
}

}  // namespace rondo::engine
