#pragma once

#include <rondo/train/compute.hpp>

#include "train/blas.hpp"
#include "train/compute_device.hpp"

namespace rondo::train {

/// Matrix products of memory that lies in `place`.
template <class T>
void multiply(Compute& place, const core::Product& product, const core::Batch& batch, const T* a,
              const T* b, T beta, T* c) {
  if (place.on_host()) return blas::multiply(product, batch, a, b, beta, c);
  place.device()->stream->multiply(
      {data_type_of<T>, product, batch, a, b, static_cast<double>(beta), c});
}

template <class T>
void multiply(Compute& place, const core::Product& product, const T* a, const T* b, T beta, T* c) {
  multiply(place, product, {}, a, b, beta, c);
}

}  // namespace rondo::train
