#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>

#include <fmt/core.h>

#include <rondo/train/compute.hpp>
#include <rondo/types.hpp>

#include "core/each.hpp"
#include "train/compute_device.hpp"

namespace rondo::train {

namespace detail {

/// cuda/train/ names its kernels so.
template <class F>
const std::string& kernel_of() {
  static const std::string name =
      fmt::format("rondo_each_{}_{}", F::name(), name_of(data_type_of<typename F::Element>));
  return name;
}

template <class T>
device::Job::Array array_of(std::span<T> elements) {
  return {const_cast<std::remove_const_t<T>*>(elements.data()), elements.size_bytes()};
}

template <class F>
device::Job job_of(const F& function, std::size_t count) {
  return {.kernel = kernel_of<F>(),
          .function = &function,
          .function_bytes = sizeof(F),
          .count = count,
          .arrays = {},
          .on_host = [](const void* copied, std::size_t indices, void* const* arrays) {
            core::each(*static_cast<const F*>(copied), {0, indices, 1}, arrays);
          }};
}

}  // namespace detail

/// Does `function`, as core/each.hpp describes it, for all indices below `count`. The arrays lie in
/// `place`; an empty one is null. F::name() and F::Element name its kernel.
template <class F, class... T>
void each(Compute& place, const F& function, std::size_t count, std::span<T>... arrays) {
  if (count == 0) return;
  if (place.on_host()) {
    const F local = function;  // which no array overlaps
#ifdef __clang__
#pragma clang loop vectorize(assume_safety)
#else
#pragma GCC ivdep
#endif
    for (std::size_t i = 0; i < count; ++i) local(i, arrays.data()...);
    return;
  }
  const std::array<device::Job::Array, sizeof...(T)> all{detail::array_of(arrays)...};
  device::Job job = detail::job_of(function, count);
  job.arrays = all;
  place.device()->stream->run(job);
}

/// The sum of what `function` returns for all indices below `count`, added up in order; waits.
template <class F, class... T>
double sum_each(Compute& place, const F& function, std::size_t count, std::span<T>... arrays) {
  if (count == 0) return 0.0;
  if (place.on_host()) {
    const F local = function;
    double sum = 0.0;
    for (std::size_t i = 0; i < count; ++i) sum += local(i, arrays.data()...);
    return sum;
  }
  std::array<device::Job::Array, 1 + sizeof...(T)> all{device::Job::Array{},
                                                       detail::array_of(arrays)...};
  return place.device()->sum(detail::job_of(function, count), all);
}

}  // namespace rondo::train
