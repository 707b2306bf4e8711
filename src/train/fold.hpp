#pragma once

#include <span>

#include <rondo/buffer.hpp>
#include <rondo/train/compute.hpp>

#include "core/reduce.hpp"
#include "train/compute_device.hpp"

namespace rondo::train {

/// core::reduce_many of arrays that lie in `place`, as many elements of each as `out` has.
inline void fold(Compute& place, const core::Fold& fold, std::span<const void* const> sources,
                 Buffer out) {
  if (out.count == 0) return;
  if (place.on_host())
    core::reduce_many(fold, sources, out.data, out.count);
  else
    place.device()->stream->reduce(fold, sources, out.data, out.count);
}

}  // namespace rondo::train
