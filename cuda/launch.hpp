#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "context.hpp"
#include "core/reduce.hpp"
#include "device/runtime.hpp"

namespace rondo::cuda {

/// Where kernels run.
struct Queue {
  const Context& context;
  CUstream stream;
};

/// What device::Stream says of `reduce`, `convert` and `run`.
void launch_reduce(const Queue& queue, const core::Fold& fold, std::span<const void* const> sources,
                   void* out, std::size_t count);
void launch_convert(const Queue& queue, const core::Conversion& conversion,
                    std::span<const device::Stream::Piece> pieces);
void launch_job(const Queue& queue, const device::Job& job);

/// The kernel that does a reduction, by its name.
std::string reduce_kernel(const core::Fold& fold);
std::string convert_kernel(const core::Conversion& conversion);

}  // namespace rondo::cuda
