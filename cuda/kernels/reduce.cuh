#pragma once

#include "fold.cuh"

namespace rondo::cuda {

template <class In, class Out, ReduceOp kOp>
__device__ void reduce(const ReduceArguments& arguments) {
  const FoldJob job{arguments.sources, arguments.source_count, arguments.out,
                    arguments.split,   arguments.scale,        arguments.divisor};
  Fold<In, Out, kOp>(job).run(blockIdx.x, gridDim.x);
}

// A kernel for elements of one type, by the name that cuda/launch.cpp looks for.
#define RONDO_REDUCE(in, In, out, Out, op)                                                  \
  extern "C" __global__ void __launch_bounds__(kThreads, 3)                                 \
      rondo_reduce_##in##_##out##_##op(const __grid_constant__ ReduceArguments arguments) { \
    reduce<In, Out, ReduceOp::op>(arguments);                                               \
  }
#define RONDO_REDUCE_WRAPPING(in, In, out, Out) \
  RONDO_REDUCE(in, In, out, Out, sum)           \
  RONDO_REDUCE(in, In, out, Out, prod)
#define RONDO_REDUCE_ORDERED(in, In, out, Out) \
  RONDO_REDUCE(in, In, out, Out, min)          \
  RONDO_REDUCE(in, In, out, Out, max)

}  // namespace rondo::cuda
