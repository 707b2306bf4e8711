#pragma once

#include <cstddef>
#include <span>

#include <rondo/types.hpp>

namespace rondo::core {

/// The kernels below work on any alignment and count (0 included), give the same bits on every
/// instruction set, and pick the widest one at run time. `out` may be exactly one of the sources if
/// its elements have the same size; any other overlap is not allowed. ReduceOp::avg adds: its
/// scaling is in `load` and `finish`. Integers wrap around.

/// out[i] = a[i] ⊕ b[i]; all three of `type`. 16-bit types are added in float32 and rounded once
/// (Wire::narrow).
void reduce(DataType type, ReduceOp op, const void* a, const void* b, void* out, std::size_t count);

/// out[i] = (…((x0[i]·scale ⊕ x1[i]·scale) ⊕ x2[i]·scale) …) / divisor: `sources` of `type`, folded
/// in their order in the accumulator type in one pass over memory. `out` is of accumulator_of(type)
/// when `partial`, else of `type`. avg is sum: the caller chooses scale and divisor.
struct Fold {
  DataType type;
  ReduceOp op;
  double scale = 1.0;
  double divisor = 1.0;
  bool partial = false;
};
void reduce_many(const Fold& fold, std::span<const void* const> sources, void* out,
                 std::size_t count);

/// out[i] = in[i] · scale / divisor, rounded once: from a type to itself, to its accumulator type,
/// or from that. Integers want scale and divisor 1.
struct Conversion {
  DataType from;
  DataType to;
  double scale = 1.0;
  double divisor = 1.0;
};
void convert(const Conversion& conversion, const void* in, void* out, std::size_t count);

/// accumulator[i] = scale · in[i]: `in` of `type`, `accumulator` of accumulator_of(type). Integers
/// want scale 1.
void load(DataType type, double scale, const void* in, void* accumulator, std::size_t count);

/// out[i] = accumulator[i] / divisor, rounded once to `type`. Integers want divisor 1.
void finish(DataType type, double divisor, const void* accumulator, void* out, std::size_t count);

/// How avg over `ranks` is split so that nothing overflows: inputs are multiplied by the power of
/// two `scale`, the sum is divided by `divisor`, and scale / divisor = 1 / ranks.
///
/// No order of summation overflows where the average itself is finite, not even by its rounding:
/// with P the power of two above the largest scaled input, k inputs sum to at most kP less one unit
/// in the last place (by induction over the additions), and so the quotient rounds to a finite
/// value. Inputs below `ranks` times the smallest normal value may lose bits in the scaling.
struct AverageScaling {
  double scale;
  double divisor;
};
AverageScaling average_scaling(int ranks);

/// Name of the instruction set that the kernels use on this machine, such as "AVX3".
const char* instruction_set();

}  // namespace rondo::core
