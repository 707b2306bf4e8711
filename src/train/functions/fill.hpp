#pragma once

#include <cstddef>
#include <string>

#include "core/each.hpp"

namespace rondo::train {

/// x = value
template <class T>
struct Fill {
  using Element = T;
  static std::string name() { return "fill"; }

  T value;

  RONDO_EVERYWHERE void operator()(std::size_t i, T* x) const { x[i] = value; }
};

/// y = x
template <class T>
struct Copy {
  using Element = T;
  static std::string name() { return "copy"; }

  RONDO_EVERYWHERE void operator()(std::size_t i, const T* x, T* y) const { y[i] = x[i]; }
};

/// z = x + y
template <class T>
struct Add {
  using Element = T;
  static std::string name() { return "add"; }

  RONDO_EVERYWHERE void operator()(std::size_t i, const T* x, const T* y, T* z) const {
    z[i] = x[i] + y[i];
  }
};

/// z = x·y
template <class T>
struct Scale {
  using Element = T;
  static std::string name() { return "scale"; }

  RONDO_EVERYWHERE void operator()(std::size_t i, const T* x, const T* y, T* z) const {
    z[i] = x[i] * y[i];
  }
};

}  // namespace rondo::train
