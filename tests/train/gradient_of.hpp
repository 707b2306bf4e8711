#pragma once

#include <cstddef>
#include <span>

#include <rondo/train/reducer.hpp>

namespace rondo::train {

/// Where parameter i's gradient lies.
template <class T>
std::span<T> gradient_of(GradientReducer& reducer, std::size_t i) {
  const Buffer gradient = reducer.gradient(i);
  return {static_cast<T*>(gradient.data), gradient.count};
}

}  // namespace rondo::train
