#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/reduce_floating.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "core/reduce.hpp"
#include "core/reduce_fold-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace rondo::core::HWY_NAMESPACE {

FoldKernel find_floating_kernel(DataType type, ReduceOp op, bool scaled) {
  return type == DataType::float32 ? kernel_for<Plain<float>, Plain<float>>(op, scaled)
                                   : kernel_for<Plain<double>, Plain<double>>(op, scaled);
}

const char* target_name() { return hwy::TargetName(HWY_TARGET); }

}  // namespace rondo::core::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rondo::core {

HWY_EXPORT(find_floating_kernel);
HWY_EXPORT(target_name);

FoldKernel floating_kernel(DataType type, ReduceOp op, bool scaled) {
  return HWY_DYNAMIC_DISPATCH(find_floating_kernel)(type, op, scaled);
}

const char* instruction_set() { return HWY_DYNAMIC_DISPATCH(target_name)(); }

}  // namespace rondo::core
#endif
