#pragma once

#include <cstddef>
#include <string>

#include "core/each.hpp"
#include "core/element.hpp"

namespace rondo::train {

/// To the nearest bfloat16, by way of float.
template <class T>
struct RoundToBfloat16 {
  using Element = T;
  static std::string name() { return "round_to_bfloat16"; }

  RONDO_EVERYWHERE void operator()(std::size_t i, const T* from, T* to) const {
    to[i] = static_cast<T>(core::widen(core::narrow<bfloat16>(static_cast<float>(from[i]))));
  }
};

}  // namespace rondo::train
