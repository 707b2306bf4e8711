#pragma once

#include <cstddef>
#include <cstring>

#include "collectives/arithmetic.hpp"
#include "collectives/node_slices.hpp"
#include "collectives/window.hpp"
#include "core/stream_copy.hpp"

namespace rondo::collectives {

/// The memory and the sizes of one collective among the ranks of a node.
struct NodeOperands {
  /// From this size on results are stored past the caches: they would not stay there anyway.
  static constexpr std::size_t kStreamFrom = 2 * 1024 * 1024;

  NodeSlices::Shape shape;  // slice_bytes is each way's own
  Arithmetic arithmetic;
  Window input;
  Window output;

  std::size_t bytes(std::size_t elements) const { return elements * shape.element_bytes; }
  std::byte* input_at(std::size_t element) const { return input.at(element, shape.element_bytes); }
  std::byte* output_at(std::size_t element) const {
    return output.at(element, shape.element_bytes);
  }
  bool streams() const { return bytes(shape.count) >= kStreamFrom; }

  /// Stores elements of the result, unless they are there already.
  void store(const std::byte* source, std::byte* target, std::size_t elements) const {
    if (elements == 0 || source == target) return;
    if (streams())
      core::stream_copy(source, target, bytes(elements));
    else
      std::memcpy(target, source, bytes(elements));
  }
  void store(const std::byte* source, Slice slice) const {
    store(source, output_at(slice.begin), slice.count);
  }
};

}  // namespace rondo::collectives
