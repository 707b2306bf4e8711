#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

/// A function that is done for each of many indices, on the host or by the threads of a device. One
/// definition serves both: a class, trivially copyable, with
///
///   RONDO_EVERYWHERE void operator()(std::size_t i, Element*… arrays) const;
///
/// which writes what no other index reads or writes. Where it returns a double, that is the term i
/// of a sum.
#ifdef __CUDACC__
#define RONDO_EVERYWHERE __host__ __device__
#else
#define RONDO_EVERYWHERE
#endif

namespace rondo::core {

/// Indices first, first + stride, … below count.
struct Indices {
  std::size_t first;
  std::size_t count;
  std::size_t stride;
};

namespace detail {

template <class F, class Result, class... Elements, std::size_t... place>
RONDO_EVERYWHERE void each(const F& function, const Indices& indices, void* const* arrays,
                           Result (F::*)(std::size_t, Elements*...) const,
                           std::index_sequence<place...>) {
  static_assert(std::is_trivially_copyable_v<F>);
  for (std::size_t i = indices.first; i < indices.count; i += indices.stride) {
    if constexpr (std::is_void_v<Result>)
      function(i, static_cast<Elements*>(arrays[place])...);
    else  // terms come first
      static_cast<Result*>(arrays[0])[i] =
          function(i, static_cast<Elements*>(arrays[place + 1])...);
  }
}

template <class F, class Result, class... Elements>
RONDO_EVERYWHERE void each(const F& function, const Indices& indices, void* const* arrays,
                           Result (F::*call)(std::size_t, Elements*...) const) {
  each(function, indices, arrays, call, std::index_sequence_for<Elements...>());
}

}  // namespace detail

/// Does `function` for some of the indices, with arrays that are known by their addresses alone. A
/// sum's terms are written to arrays[0]; the others follow.
template <class F>
RONDO_EVERYWHERE void each(const F& function, const Indices& indices, void* const* arrays) {
  detail::each(function, indices, arrays, &F::operator());
}

}  // namespace rondo::core
