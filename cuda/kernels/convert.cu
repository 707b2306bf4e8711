#include "fold.cuh"

namespace rondo::cuda {

/// The piece that `block` works on: the last that begins at it or before.
inline __device__ const ConvertArguments::Piece& piece_of(const ConvertArguments& arguments,
                                                          unsigned block) {
  int from = 0;
  int to = arguments.piece_count;
  while (to - from > 1) {
    const int middle = (from + to) / 2;
    if (arguments.pieces[middle].first_block <= block)
      from = middle;
    else
      to = middle;
  }
  return arguments.pieces[from];
}

/// A fold of one source, for each piece.
template <class In, class Out>
__device__ void convert(const ConvertArguments& arguments) {
  const ConvertArguments::Piece& piece = piece_of(arguments, blockIdx.x);
  const FoldJob job{&piece.from, 1, piece.to, piece.split, arguments.scale, arguments.divisor};
  Fold<In, Out, ReduceOp::sum>(job).run(blockIdx.x - piece.first_block, piece.blocks);
}

#define RONDO_CONVERT(in, In, out, Out)                                                \
  extern "C" __global__ void __launch_bounds__(kThreads, 3)                            \
      rondo_convert_##in##_##out(const __grid_constant__ ConvertArguments arguments) { \
    convert<In, Out>(arguments);                                                       \
  }

RONDO_CONVERT(uint8, std::uint8_t, uint8, std::uint8_t)  // copies of any type
RONDO_CONVERT(float16, float16, float16, float16)
RONDO_CONVERT(float16, float16, float32, float)
RONDO_CONVERT(bfloat16, bfloat16, bfloat16, bfloat16)
RONDO_CONVERT(bfloat16, bfloat16, float32, float)
RONDO_CONVERT(float32, float, float16, float16)
RONDO_CONVERT(float32, float, bfloat16, bfloat16)
RONDO_CONVERT(float32, float, float32, float)
RONDO_CONVERT(float64, double, float64, double)

}  // namespace rondo::cuda
