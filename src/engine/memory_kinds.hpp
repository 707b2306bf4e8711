#pragma once

#include <optional>
#include <string_view>

#include "device/runtime.hpp"
#include "engine/call.hpp"

namespace rondo::engine {

/// The device whose memory the call's buffers are, if it is one that takes such memory; none for
/// host, pinned and managed memory. Throws Error(usage) for a mix of both, naming rank and
/// argument.
std::optional<int> device_of(const Call& call, Rank rank, device::Runtime& devices);

/// Throws Error(usage), naming rank and tensor, unless all lie in the memory of one device, or all
/// where the host reaches them.
void check_together(std::span<const Buffer> tensors, Rank rank, device::Runtime& devices);
/// The device in whose memory `data` lies, or tensors that have been checked; none if that is where
/// the host reaches them.
std::optional<int> device_of(ConstBuffer data, device::Runtime& devices);
std::optional<int> device_of(std::span<const Buffer> tensors, device::Runtime& devices);

/// Throws Error(usage), naming rank and argument, for a call that can't be ordered with a stream:
/// it has memory that isn't a device's, or takes none. `devices` may be null.
void check_ordered_by_stream(const Call& call, Rank rank, device::Runtime* devices);

/// Throws Error(usage): `call` takes no stream.
[[noreturn]] void refuse_stream(std::string_view call);

/// Throws Error(usage), naming call, rank and argument, if `data` lies in memory of a device.
void refuse_device_memory(std::string_view call, std::string_view argument, ConstBuffer data,
                          Rank rank, device::Runtime& devices);

}  // namespace rondo::engine
