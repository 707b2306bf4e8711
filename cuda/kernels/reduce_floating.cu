#include "reduce.cuh"

namespace rondo::cuda {

#define RONDO_REDUCE_FLOATING(in, In, out, Out) \
  RONDO_REDUCE_WRAPPING(in, In, out, Out)       \
  RONDO_REDUCE_ORDERED(in, In, out, Out)

RONDO_REDUCE_FLOATING(float16, float16, float16, float16)
RONDO_REDUCE_FLOATING(float16, float16, float32, float)
RONDO_REDUCE_FLOATING(bfloat16, bfloat16, bfloat16, bfloat16)
RONDO_REDUCE_FLOATING(bfloat16, bfloat16, float32, float)
RONDO_REDUCE_FLOATING(float32, float, float32, float)
RONDO_REDUCE_FLOATING(float64, double, float64, double)

}  // namespace rondo::cuda
