#pragma once

#include <cstddef>
#include <cstring>

#include "collectives/arithmetic.hpp"
#include "collectives/node_slices.hpp"
#include "collectives/window.hpp"
#include "core/copy.hpp"

namespace rondo::collectives {

/// The memory and the sizes of one collective among the ranks of a node.
struct NodeOperands {
  NodeSlices::Shape shape;  // slice_bytes is each way's own
  Arithmetic arithmetic;
  Window input;
  Window output;
  Value result = Value::finished;  // partial: of a reduction over several nodes

  std::size_t bytes(std::size_t elements) const { return elements * shape.element_bytes; }
  std::byte* input_at(std::size_t element) const { return input.at(element, shape.element_bytes); }
  std::byte* output_at(std::size_t element) const {
    return output.at(element, arithmetic.bytes_of(result));
  }
  /// Whether outputs are stored past the caches: all ranks' inputs are far more than fits there.
  bool streams() const {
    return static_cast<std::size_t>(shape.ranks) * bytes(shape.count) >= core::last_cache_bytes();
  }

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
