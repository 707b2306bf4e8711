#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/reduce_half.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "core/reduce_fold-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace rondo::core::HWY_NAMESPACE {

template <class Half>
FoldKernel half_kernel_for(DataType out, ReduceOp op, bool scaled) {
  return out == DataType::float32 ? kernel_for<Half, Plain<float>>(op, scaled)
                                  : kernel_for<Half, Half>(op, scaled);
}

FoldKernel find_half_kernel(DataType in, DataType out, ReduceOp op, bool scaled) {
  return in == DataType::float16 ? half_kernel_for<Float16>(out, op, scaled)
                                 : half_kernel_for<Bfloat16>(out, op, scaled);
}

// With one source no operation is applied; any will do.
template <class Half>
FoldKernel half_finish_kernel_for(bool scaled) {
  return scaled ? &Fold<Plain<float>, Half, Sum, Scaled>::kernel
                : &Fold<Plain<float>, Half, Sum, Unscaled>::kernel;
}

FoldKernel find_half_finish_kernel(DataType out, bool scaled) {
  return out == DataType::float16 ? half_finish_kernel_for<Float16>(scaled)
                                  : half_finish_kernel_for<Bfloat16>(scaled);
}

}  // namespace rondo::core::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rondo::core {

HWY_EXPORT(find_half_kernel);
HWY_EXPORT(find_half_finish_kernel);

FoldKernel half_kernel(DataType in, DataType out, ReduceOp op, bool scaled) {
  return HWY_DYNAMIC_DISPATCH(find_half_kernel)(in, out, op, scaled);
}

FoldKernel half_finish_kernel(DataType out, bool scaled) {
  return HWY_DYNAMIC_DISPATCH(find_half_finish_kernel)(out, scaled);
}

}  // namespace rondo::core
#endif
