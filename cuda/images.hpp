#pragma once

#include <span>

namespace rondo::cuda {

/// The compiled kernels of one file, as nvcc made them.
struct Image {
  const char* begin;
  const char* end;
};

/// All there are.
std::span<const Image> images();

}  // namespace rondo::cuda
