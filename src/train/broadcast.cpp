#include <rondo/train/broadcast.hpp>

#include <vector>

#include <rondo/communicator.hpp>

#include "device/copy.hpp"
#include "train/check_alike.hpp"

namespace rondo::train {

namespace {

constexpr std::size_t kMostTogether = std::size_t{1} << 20;  // bytes; larger arrays go alone

/// One broadcast of several arrays, through memory that holds them one after another.
void broadcast_together(Communicator& communicator, std::span<const ArrayView> arrays) {
  std::size_t bytes = 0;
  for (const ArrayView& array : arrays) bytes += array.bytes();
  std::vector<std::uint8_t> packed(bytes);
  const auto for_each_place = [&](const auto& move) {
    std::size_t offset = 0;
    for (const ArrayView& array : arrays) {
      if (array.bytes() > 0) move(array.data, packed.data() + offset, array.bytes());
      offset += array.bytes();
    }
  };
  for_each_place(
      [](void* data, std::uint8_t* place, std::size_t n) { device::copy(place, data, n); });
  communicator.broadcast(std::span(packed), 0);
  for_each_place(
      [](void* data, std::uint8_t* place, std::size_t n) { device::copy(data, place, n); });
}

}  // namespace

void broadcast_parameters(Communicator& communicator, std::span<const ArrayView> arrays) {
  check_alike(communicator, "the arrays to broadcast", describe(arrays));
  std::size_t first = 0;
  while (first < arrays.size()) {
    if (arrays[first].bytes() > kMostTogether) {
      const ArrayView& array = arrays[first++];
      communicator.broadcast(Buffer(array.data, array.count(), array.type), 0);
      continue;
    }
    std::size_t end = first;
    for (std::size_t bytes = 0; end < arrays.size(); ++end) {
      bytes += arrays[end].bytes();
      if (bytes > kMostTogether) break;
    }
    broadcast_together(communicator, arrays.subspan(first, end - first));
    first = end;
  }
}

}  // namespace rondo::train
