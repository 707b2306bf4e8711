#include <algorithm>
#include <cstring>
#include <iterator>

#include "core/digest.hpp"
#include "device/in_use.hpp"
#include "engine/memory_kinds.hpp"
#include "engine/session-inl.hpp"

// The all-reduce of many tensors.
namespace rondo::engine {

void Session::allreduce_all(std::span<const Buffer> tensors, ReduceOp op, const Options& options) {
  guarded([&] {
    if (options.stream) refuse_stream("allreduce of many tensors");
    device::Runtime* const devices = device::in_use();
    if (devices != nullptr) check_together(tensors, transport_->rank(), *devices);
    std::vector<Buffer> alike;
    for (int type = 0; type < kDataTypes; ++type) {
      alike.clear();
      std::copy_if(tensors.begin(), tensors.end(), std::back_inserter(alike),
                   [&](const Buffer& tensor) { return static_cast<int>(tensor.type) == type; });
      if (!alike.empty()) reduce_together(alike, op, options);
    }
    if (tensors.empty()) reduce_together({}, ReduceOp::sum, options);
  });
}

/// Tensors of one type.
void Session::reduce_together(std::span<const Buffer> tensors, ReduceOp op,
                              const Options& options) {
  std::size_t count = 0;
  core::Digest counts;
  for (const Buffer& tensor : tensors) {
    count += tensor.count;
    counts.add(std::uint64_t{tensor.count});
  }
  const DataType type = tensors.empty() ? DataType::uint8 : tensors.front().type;
  Call call{.collective = collectives::Collective::allreduce,
            .input = Buffer(nullptr, count, type),
            .output = Buffer(nullptr, count, type),
            .op = op,
            .details = counts.value()};
  device::Runtime* const devices = device::in_use();
  if (devices != nullptr)
    if (const auto device = device_of(tensors, *devices)) {
      check_terms(call, terms_of(options), transport_->rank(), transport_->size());
      return run_staged(call, options, *devices, *device, tensors);
    }
  pack_and_reduce(tensors, call, options);
}

void Session::pack_and_reduce(std::span<const Buffer> tensors, Call& call, const Options& options) {
  packed_.resize(std::max(packed_.size(), call.output.bytes()));
  call.input.data = call.output.data = packed_.data();
  const auto for_each = [&](auto visit) {
    std::size_t offset = 0;
    for (const Buffer& tensor : tensors) {
      if (tensor.count == 0) continue;
      visit(tensor, packed_.data() + offset);
      offset += tensor.bytes();
    }
  };
  for_each([](const Buffer& tensor, std::byte* packed) {
    std::memcpy(packed, tensor.data, tensor.bytes());
  });
  run_held(call, options);
  for_each([](const Buffer& tensor, const std::byte* packed) {
    std::memcpy(tensor.data, packed, tensor.bytes());
  });
}

}  // namespace rondo::engine
