// The one loop of all reductions. Compiled once for each instruction set.
#if defined(RONDO_CORE_REDUCE_FOLD_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef RONDO_CORE_REDUCE_FOLD_INL_HPP
#undef RONDO_CORE_REDUCE_FOLD_INL_HPP
#else
#define RONDO_CORE_REDUCE_FOLD_INL_HPP
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstring>
#include <type_traits>

#include "core/lanes-inl.hpp"
#include "core/reduce_kernels.hpp"
#include "core/reduce_ops-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace rondo::core::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Reads and writes a whole vector of elements, which begin with element i of an array.
struct WholeVector {
  template <class Format, class D>
  HWY_INLINE hn::Vec<D> load(D d, const void* array, std::size_t i) const {
    return Format::load(d, static_cast<const typename Format::Element*>(array) + i);
  }
  template <class Format, class D>
  HWY_INLINE void store(D d, hn::Vec<D> lanes, void* array, std::size_t i) const {
    Format::store(d, lanes, static_cast<typename Format::Element*>(array) + i);
  }
};

// The same for the last `count` elements, fewer than a vector; touches nothing beyond them, and
// computes as a whole vector does, so that the place of an element never changes its bits.
struct PartOfVector {
  std::size_t count;

  template <class Format, class D>
  HWY_INLINE hn::Vec<D> load(D d, const void* array, std::size_t i) const {
    using T = typename Format::Element;
    const T* from = static_cast<const T*>(array) + i;
    if constexpr (Format::kInParts) {
      return Format::load_part(d, from, count);
    } else {
      HWY_ALIGN T elements[hn::MaxLanes(d)] = {};
      std::memcpy(elements, from, count * sizeof(T));
      return Format::load(d, elements);
    }
  }
  template <class Format, class D>
  HWY_INLINE void store(D d, hn::Vec<D> lanes, void* array, std::size_t i) const {
    using T = typename Format::Element;
    T* to = static_cast<T*>(array) + i;
    if constexpr (Format::kInParts) {
      Format::store_part(d, lanes, to, count);
    } else {
      HWY_ALIGN T elements[hn::MaxLanes(d)];
      Format::store(d, lanes, elements);
      std::memcpy(to, elements, count * sizeof(T));
    }
  }
};

struct Unscaled {
  explicit Unscaled(const FoldArguments&) {}
  template <class D>
  HWY_INLINE hn::Vec<D> scale(D, hn::Vec<D> lanes) const {
    return lanes;
  }
  template <class D>
  HWY_INLINE hn::Vec<D> divide(D, hn::Vec<D> lanes) const {
    return lanes;
  }
};

struct Scaled {
  double factor;
  double divisor;

  explicit Scaled(const FoldArguments& fold) : factor(fold.scale), divisor(fold.divisor) {}

  template <class D>
  HWY_INLINE hn::Vec<D> scale(D d, hn::Vec<D> lanes) const {
    return hn::Mul(lanes, hn::Set(d, static_cast<hn::TFromD<D>>(factor)));
  }

  template <class D>
  HWY_INLINE hn::Vec<D> divide(D d, hn::Vec<D> lanes) const {
    if (divisor == 1.0) return lanes;  // divisions are slow, and loads want none
    return hn::Div(lanes, hn::Set(d, static_cast<hn::TFromD<D>>(divisor)));
  }
};

// In ⊕ In ⊕ … → Out, by Op, through registers: memory is read and written once, however many
// sources there are.
template <class In, class Out, class Op, class Scaling>
class Fold {
  static_assert(std::is_same_v<typename In::Accumulator, typename Out::Accumulator>);
  using D = hn::ScalableTag<typename In::Accumulator>;
  using V = hn::Vec<D>;

 public:
  explicit HWY_INLINE Fold(const FoldArguments& arguments)
      : arguments_(arguments), scaling_(arguments) {}

  HWY_INLINE void run() const {
    const std::size_t lanes = hn::Lanes(d_);
    const std::size_t count = arguments_.count;
    std::size_t i = 0;
    for (; count - i >= 4 * lanes; i += 4 * lanes) four_vectors(i);
    for (; count - i >= lanes; i += lanes) one_vector(WholeVector{}, i);
    if (i < count) one_vector(PartOfVector{count - i}, i);
  }

  static void kernel(const FoldArguments& arguments) { Fold(arguments).run(); }

 private:
  template <class Access>
  HWY_INLINE V load(Access access, std::size_t source, std::size_t i) const {
    return scaling_.scale(d_, access.template load<In>(d_, arguments_.sources[source], i));
  }
  template <class Access>
  HWY_INLINE void store(Access access, V value, std::size_t i) const {
    access.template store<Out>(d_, scaling_.divide(d_, value), arguments_.out, i);
  }

  template <class Access>
  HWY_INLINE void one_vector(Access access, std::size_t i) const {
    V value = load(access, 0, i);
    for (std::size_t s = 1; s < arguments_.source_count; ++s)
      value = Op::apply(d_, value, load(access, s, i));
    store(access, value, i);
  }

  struct Two {
    V first;
    V second;
  };
  // Where elements come and go in one format, they may lie in any order meanwhile.
  static constexpr bool kInTwos = std::is_same_v<In, Out> && In::kInTwos;

  HWY_INLINE Two load_two(std::size_t source, std::size_t i) const {
    if constexpr (kInTwos) {
      Two two;
      In::load_two(d_, static_cast<const typename In::Element*>(arguments_.sources[source]) + i,
                   two.first, two.second);
      return {scaling_.scale(d_, two.first), scaling_.scale(d_, two.second)};
    } else {
      return {load(WholeVector{}, source, i), load(WholeVector{}, source, i + hn::Lanes(d_))};
    }
  }
  HWY_INLINE void store_two(Two two, std::size_t i) const {
    if constexpr (kInTwos) {
      Out::store_two(d_, scaling_.divide(d_, two.first), scaling_.divide(d_, two.second),
                     static_cast<typename Out::Element*>(arguments_.out) + i);
    } else {
      store(WholeVector{}, two.first, i);
      store(WholeVector{}, two.second, i + hn::Lanes(d_));
    }
  }
  HWY_INLINE Two apply(Two a, Two b) const {
    return {Op::apply(d_, a.first, b.first), Op::apply(d_, a.second, b.second)};
  }

  // Four at a time hide the latency of the operation.
  HWY_INLINE void four_vectors(std::size_t i) const {
    const std::size_t lanes = hn::Lanes(d_);
    Two front = load_two(0, i);
    Two back = load_two(0, i + 2 * lanes);
    for (std::size_t s = 1; s < arguments_.source_count; ++s) {
      front = apply(front, load_two(s, i));
      back = apply(back, load_two(s, i + 2 * lanes));
    }
    store_two(front, i);
    store_two(back, i + 2 * lanes);
  }

  static constexpr D d_{};
  FoldArguments arguments_;
  Scaling scaling_;
};

template <class In, class Out, class Scaling>
FoldKernel kernel_for(ReduceOp op) {
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::avg:
      return &Fold<In, Out, Sum, Scaling>::kernel;
    case ReduceOp::prod:
      return &Fold<In, Out, Product, Scaling>::kernel;
    case ReduceOp::min:
      return &Fold<In, Out, Minimum, Scaling>::kernel;
    case ReduceOp::max:
      return &Fold<In, Out, Maximum, Scaling>::kernel;
  }
  return nullptr;
}

template <class In, class Out>
FoldKernel kernel_for(ReduceOp op, bool scaled) {
  return scaled ? kernel_for<In, Out, Scaled>(op) : kernel_for<In, Out, Unscaled>(op);
}

}  // namespace rondo::core::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
