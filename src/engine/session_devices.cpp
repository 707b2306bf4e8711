#include <algorithm>

#include <fmt/core.h>

#include "device/gates.hpp"
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
  Call whole = call;
  whole.on_device = true;
  whole.by_group = true;
  whole.by_peers = true;
  if (goes_by_group(whole, options, devices, *device)) return run_in_group(whole, options, devices);
  whole.by_group = false;
  if (!run_among_peers(whole, options, devices, *device))
    run_staged(call, options, devices, *device);
}

bool Session::run_among_peers(const Call& call, const Options& options, device::Runtime& devices,
                              int device) {
  const Terms terms = terms_of(options);
  if (!among_peers_->serves(call, terms)) return false;
  // Closing waits for streams, some of which may wait for what is pending here.
  if (launches_->empty()) among_peers_->close_past();
  const auto after = devices.make_event(device);
  devices.wrap_stream(device, nullptr)->record(*after);
  among_peers_->start(devices, device, call, terms, sequence_ + 1, *after);
  run_series(call, *among_peers_, PeerOperation::kOperations, terms);
  last_algorithm_ = among_peers_->algorithm();
  return among_peers_->served();
}

bool Session::goes_by_group(const Call& call, const Options& options, device::Runtime& devices,
                            int device) {
  if (!settings_.nccl || transport_->size() == 1) return false;
  if (!met_on_devices_) meet_on_devices(call, options, devices, device);
  if (!in_group_->has_joined() ||
      operation_->choose(call, terms_of(options)).algorithm->path != collectives::Path::group)
    return false;
  if (device == in_group_->device()) return true;
  throw Error(
      ErrorCode::usage,
      fmt::format("{}: the memory of rank {} is on device {}, but that of its first call "
                  "was on device {}; make a communicator for each device, or set "
                  "RONDO_NCCL=off",
                  name_of(call.collective), transport_->rank(), device, in_group_->device()));
}

void Session::run_in_group(const Call& call, const Options& options, device::Runtime& devices) {
  const Terms terms = terms_of(options);
  const auto after = devices.make_event(in_group_->device());
  devices.wrap_stream(in_group_->device(), nullptr)->record(*after);
  in_group_->start(call, terms, sequence_ + 1, *after);
  run_series(call, *in_group_, 1, terms);
}

/// Room for an element of every block at least.
std::size_t Session::part_bytes() const {
  constexpr std::size_t kBuffers = 2;
  constexpr std::size_t kLargestElement = 8;
  return std::max(settings_.staging_bytes,
                  kBuffers * kLargestElement * static_cast<std::size_t>(transport_->size()));
}

void Session::run_staged(const Call& call, const Options& options, device::Runtime& devices,
                         int device, std::span<const Buffer> tensors) {
  const Terms terms = terms_of(options);
  const auto after = devices.make_event(device);
  devices.wrap_stream(device, nullptr)->record(*after);
  staged_->start(call, terms, sequence_ + 1, *after, stagings_->on(devices, device, part_bytes()),
                 tensors);
  run_series(call, *staged_, staged_->parts(), terms);
}

bool Session::start_staged_message(ConstBuffer outgoing, Buffer incoming, Rank peer) {
  device::Runtime* const devices = device::in_use();
  if (devices == nullptr) return false;
  const ConstBuffer data = outgoing.count > 0 ? outgoing : incoming;
  const std::optional<int> device = device_of(data, *devices);
  if (!device) return false;
  after_message_ = devices->make_event(*device);
  devices->wrap_stream(*device, nullptr)->record(*after_message_);
  device::Staging& staging = stagings_->on(*devices, *device, part_bytes());
  if (outgoing.count > 0)
    staged_message_->start_send(outgoing, peer, *after_message_, staging);
  else
    staged_message_->start_receive(incoming, peer, *after_message_, staging);
  return true;
}

std::optional<Launch::OnDevice> Session::begin_on_device(const Call& call, const Options& options,
                                                         std::uint64_t& operations) {
  device::Runtime* const devices = device::in_use();
  if (devices == nullptr) return std::nullopt;
  const std::optional<int> device = device_of(call, transport_->rank(), *devices);
  if (!device) return std::nullopt;
  const auto stream =
      devices->wrap_stream(*device, options.stream ? options.stream->handle() : nullptr);
  if (options.stream) {
    refuse_captured(*stream);
    wait_for_earlier_ones();
  }
  PartedCall parts(transport_->rank(), transport_->size());
  parts.cut(call, part_bytes());
  operations = parts.parts();
  launches_->get_ready(*devices, *device, part_bytes());
  Launch::OnDevice result{devices, *device, devices->make_event(*device)};
  stream->record(*result.after);
  if (options.stream) result.gate = devices->gates(*device).hold_up(*stream);
  return result;
}

void Session::check_stream(const Call& call) {
  check_ordered_by_stream(call, transport_->rank(), device::in_use());
  if (watched_ || (transport_->size() == 1 && watch())) return;
  throw Error(ErrorCode::usage,
              fmt::format("{}: with Options::stream it needs the progress thread, which "
                          "RONDO_PROGRESS=thread and MPI_THREAD_MULTIPLE bring about; without one, "
                          "wait for the stream, and leave Options::stream empty",
                          name_of(call.collective)));
}

void Session::refuse_captured(device::Stream& stream) const {
  if (stream.is_captured())
    throw Error(ErrorCode::usage,
                fmt::format("the stream that rank {} gave is being captured into a graph, which a "
                            "call that goes through the host can't be part of; make it before or "
                            "after the capture",
                            transport_->rank()));
}

void Session::refuse_devices(std::string_view call, std::string_view argument,
                             ConstBuffer data) const {
  if (device::Runtime* const devices = device::in_use())
    refuse_device_memory(call, argument, data, transport_->rank(), *devices);
}

}  // namespace rondo::engine
