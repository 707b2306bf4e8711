#include <cstdint>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/reduce_integer.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "core/reduce_fold-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace rondo::core::HWY_NAMESPACE {

// Signed sums and products are those of the unsigned type, which wrap around.
template <class T>
FoldKernel integer_kernel_for(ReduceOp op) {
  const bool ordered = op == ReduceOp::min || op == ReduceOp::max;
  if constexpr (std::is_signed_v<T>) {
    if (!ordered) return integer_kernel_for<std::make_unsigned_t<T>>(op);
    return op == ReduceOp::min ? &Fold<Plain<T>, Plain<T>, Minimum, Unscaled>::kernel
                               : &Fold<Plain<T>, Plain<T>, Maximum, Unscaled>::kernel;
  } else {
    return kernel_for<Plain<T>, Plain<T>, Unscaled>(op);
  }
}

FoldKernel find_integer_kernel(DataType type, ReduceOp op) {
  switch (type) {
    case DataType::int8:
      return integer_kernel_for<std::int8_t>(op);
    case DataType::uint8:
      return integer_kernel_for<std::uint8_t>(op);
    case DataType::int32:
      return integer_kernel_for<std::int32_t>(op);
    case DataType::uint32:
      return integer_kernel_for<std::uint32_t>(op);
    case DataType::int64:
      return integer_kernel_for<std::int64_t>(op);
    case DataType::uint64:
      return integer_kernel_for<std::uint64_t>(op);
    default:
      return nullptr;
  }
}

}  // namespace rondo::core::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rondo::core {

HWY_EXPORT(find_integer_kernel);

FoldKernel integer_kernel(DataType type, ReduceOp op) {
  return HWY_DYNAMIC_DISPATCH(find_integer_kernel)(type, op);
}

}  // namespace rondo::core
#endif
