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

/// Elements [begin, begin + count) of an array, seen flat.
struct Slice {
  std::size_t begin = 0;
  std::size_t count = 0;
};

/// What one rank has of a named array that is dealt out among the ranks, in rank order.
struct ArrayShard {
  ArrayView array;  // the whole; its data are `slice` of it, maybe nothing
  Slice slice;
};

}  // namespace rondo::train
