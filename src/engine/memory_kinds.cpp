#include "engine/memory_kinds.hpp"

#include <string>

#include <fmt/core.h>

#include <rondo/error.hpp>

namespace rondo::engine {

using device::Location;
using device::MemoryKind;

namespace {

Location location(device::Runtime& devices, const void* data, std::size_t count) {
  return count == 0 ? Location{} : devices.locate(data);
}

std::string describe(const Location& where, const device::Runtime& devices) {
  if (where.kind != MemoryKind::device) return fmt::format("in {} memory", name_of(where.kind));
  return fmt::format("in memory of {} device {}", devices.name(), where.device);
}

}  // namespace

std::optional<int> device_of(const Call& call, Rank rank, device::Runtime& devices) {
  const Location input = location(devices, call.input.data, call.input.count);
  const Location output = location(devices, call.output.data, call.output.count);
  const bool any = input.kind == MemoryKind::device || output.kind == MemoryKind::device;
  if (!any) return std::nullopt;
  const bool both = call.input.count > 0 && call.output.count > 0;
  if (both && input != output)
    throw Error(ErrorCode::usage,
                fmt::format("{}: the input of rank {} is {}, but its output {}; both must be on "
                            "one device, or both where the host reaches them",
                            name_of(call.collective), rank, describe(input, devices),
                            describe(output, devices)));
  return call.input.count > 0 ? input.device : output.device;
}

void check_together(std::span<const Buffer> tensors, Rank rank, device::Runtime& devices) {
  const auto place_of = [&](const Buffer& tensor) {
    const Location where = devices.locate(tensor.data);
    return where.kind == MemoryKind::device ? where : Location{};
  };
  std::size_t first = 0;
  while (first < tensors.size() && tensors[first].count == 0) ++first;
  for (std::size_t i = first; i < tensors.size(); ++i)
    if (tensors[i].count > 0 && place_of(tensors[i]) != place_of(tensors[first]))
      throw Error(
          ErrorCode::usage,
          fmt::format("allreduce: tensor {} of rank {} is {}, but tensor {} {}; all must be "
                      "on one device, or all where the host reaches them",
                      first, rank, describe(devices.locate(tensors[first].data), devices), i,
                      describe(devices.locate(tensors[i].data), devices)));
}

std::optional<int> device_of(ConstBuffer data, device::Runtime& devices) {
  const Location where = location(devices, data.data, data.count);
  return where.kind == MemoryKind::device ? std::optional(where.device) : std::nullopt;
}

std::optional<int> device_of(std::span<const Buffer> tensors, device::Runtime& devices) {
  for (const Buffer& tensor : tensors)
    if (tensor.count > 0) return device_of(ConstBuffer(tensor), devices);
  return std::nullopt;
}

void check_ordered_by_stream(const Call& call, Rank rank, device::Runtime* devices) {
  if (call.collective == collectives::Collective::barrier) refuse_stream("barrier");
  if (is_uneven_all_to_all(call)) refuse_stream("all_to_all_v");
  const auto check = [&](ConstBuffer data, std::string_view argument) {
    if (data.count == 0) return;
    const Location where = devices == nullptr ? Location{} : devices->locate(data.data);
    if (where.kind == MemoryKind::device) return;
    throw Error(ErrorCode::usage,
                fmt::format("{}: the {} of rank {} is in {} memory, but a stream orders calls on a "
                            "device's memory alone; wait for the stream, and leave Options::stream "
                            "empty",
                            name_of(call.collective), argument, rank, name_of(where.kind)));
  };
  check(call.input, "input");
  check(call.output, "output");
}

void refuse_stream(std::string_view call) {
  throw Error(
      ErrorCode::usage,
      fmt::format("{} takes no stream; wait for the stream, and leave Options::stream empty",
                  call));
}

void refuse_device_memory(std::string_view call, std::string_view argument, ConstBuffer data,
                          Rank rank, device::Runtime& devices) {
  const Location where = location(devices, data.data, data.count);
  if (where.kind != MemoryKind::device) return;
  throw Error(
      ErrorCode::usage,
      fmt::format("{}: the {} of rank {} is {}, which this call doesn't take so far; copy it "
                  "to the host first",
                  call, argument, rank, describe(where, devices)));
}

}  // namespace rondo::engine
