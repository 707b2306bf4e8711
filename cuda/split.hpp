#pragma once

#include <cstddef>
#include <span>

#include "kernels/arguments.hpp"

namespace rondo::cuda {

struct ElementSizes {
  std::size_t in;
  std::size_t out;
};

/// How kernels share out `count` elements of `sources` and `out`. In the steps the output is
/// aligned to kVectorBytes, and so are the sources, or whole aligned vectors that lie in them hold
/// their elements (Split::shifted). Where `out` is not aligned to its elements there are no steps.
Split split(ElementSizes sizes, std::span<const void* const> sources, const void* out,
            std::size_t count);

}  // namespace rondo::cuda
