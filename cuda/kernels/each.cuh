#pragma once

#include "arguments.hpp"
#include "core/each.hpp"

// A kernel for a function of core/each.hpp, by the name that its jobs have.
#define RONDO_EACH(name, ...)                                                           \
  extern "C" __global__ void __launch_bounds__(rondo::cuda::kThreads)                   \
      rondo_each_##name(const __grid_constant__ __VA_ARGS__ function,                   \
                        const __grid_constant__ rondo::cuda::EachArguments arguments) { \
    const std::size_t first = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;       \
    const std::size_t stride = gridDim.x * std::size_t{blockDim.x};                     \
    rondo::core::each(function, {first, arguments.count, stride}, arguments.arrays);    \
  }
// One for float, one for double.
#define RONDO_EACH_OF(name, ...)                 \
  RONDO_EACH(name##_float32, __VA_ARGS__<float>) \
  RONDO_EACH(name##_float64, __VA_ARGS__<double>)
