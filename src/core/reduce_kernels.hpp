#pragma once

#include <cstddef>

#include <rondo/types.hpp>

namespace rondo::core {

/// What a kernel works on; the types and the operation are the kernel's own.
struct FoldArguments {
  const void* const* sources;
  std::size_t source_count;  // at least 1
  void* out;
  std::size_t count;
  double scale;
  double divisor;
};

/// out[i] = (…(x0[i]·scale ⊕ x1[i]·scale) ⊕ …) / divisor, on one instruction set.
using FoldKernel = void (*)(const FoldArguments&);

/// The kernels for the instruction set of this machine, by family of types. A kernel with `scaled`
/// false ignores scale and divisor. ReduceOp::avg is the same as sum.
FoldKernel integer_kernel(DataType type, ReduceOp op);
FoldKernel floating_kernel(DataType type, ReduceOp op, bool scaled);
/// From a 16-bit type to itself or to float32.
FoldKernel half_kernel(DataType in, DataType out, ReduceOp op, bool scaled);
/// From float32 to a 16-bit type, of one source.
FoldKernel half_finish_kernel(DataType out, bool scaled);

}  // namespace rondo::core
