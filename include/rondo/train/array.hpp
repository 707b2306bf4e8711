#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <rondo/types.hpp>

namespace rondo::train {

/// A named array that somebody else owns: what checkpoints read and write, and what optimizers and
/// layers show of their state. Row-major.
struct ArrayView {
  std::string name;
  DataType type = DataType::float32;
  std::vector<std::size_t> shape;  // empty: a scalar
  void* data = nullptr;

  std::size_t count() const {
    std::size_t product = 1;
    for (const std::size_t extent : shape) product *= extent;
    return product;
  }
  std::size_t bytes() const { return count() * size_of(type); }
};

}  // namespace rondo::train
