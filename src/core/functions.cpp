#include "core/functions.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/functions.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace rondo::core::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

struct Sigmoid {
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V value(D d, V x) {
    const V one = hn::Set(d, 1);
    const V lowest = hn::Set(d, sizeof(hn::TFromD<D>) == 4 ? -88 : -706);  // exp(-x) has no more
    return hn::Div(one, hn::Add(one, hn::Exp(d, hn::Neg(hn::Max(x, lowest)))));
  }
};

struct Tanh {
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V value(D d, V x) {
    return hn::Tanh(d, x);
  }
};

template <class Function, class D>
HWY_INLINE void apply_to_vector(D d, const hn::TFromD<D>* from, hn::TFromD<D>* to) {
  const auto x = hn::LoadU(d, from);
  // Highway does not say what its functions make of NaN.
  hn::StoreU(hn::IfThenElse(hn::IsNaN(x), x, Function::value(d, x)), d, to);
}

/// Those that fill no vector come one by one.
template <class Function, class T>
HWY_INLINE void apply(const T* from, T* to, std::size_t count) {
  const hn::ScalableTag<T> d;
  const hn::CappedTag<T, 1> one;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d))
    apply_to_vector<Function>(d, from + i, to + i);
  for (; i < count; ++i) apply_to_vector<Function>(one, from + i, to + i);
}

void sigmoid_f32(const float* from, float* to, std::size_t count) {
  apply<Sigmoid>(from, to, count);
}
void sigmoid_f64(const double* from, double* to, std::size_t count) {
  apply<Sigmoid>(from, to, count);
}
void tanh_f32(const float* from, float* to, std::size_t count) { apply<Tanh>(from, to, count); }
void tanh_f64(const double* from, double* to, std::size_t count) { apply<Tanh>(from, to, count); }

}  // namespace rondo::core::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rondo::core {

HWY_EXPORT(sigmoid_f32);
HWY_EXPORT(sigmoid_f64);
HWY_EXPORT(tanh_f32);
HWY_EXPORT(tanh_f64);

template <>
void sigmoid(const float* from, float* to, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(sigmoid_f32)(from, to, count);
}
template <>
void sigmoid(const double* from, double* to, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(sigmoid_f64)(from, to, count);
}
template <>
void tanh(const float* from, float* to, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(tanh_f32)(from, to, count);
}
template <>
void tanh(const double* from, double* to, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(tanh_f64)(from, to, count);
}

}  // namespace rondo::core
#endif
