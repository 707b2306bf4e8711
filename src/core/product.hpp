#pragma once

#include <cstddef>

#include <rondo/types.hpp>

namespace rondo::core {

/// A row-major matrix product C = op(A)·op(B) + beta·C, where C is `rows` × `columns`, and `inner`
/// is the extent summed over. None may be 0. A stride is the number of elements from one row in
/// memory to the next; 0 stands for rows without gaps.
struct Product {
  bool transpose_a = false;
  bool transpose_b = false;
  std::size_t rows;
  std::size_t columns;
  std::size_t inner;
  std::size_t stride_a = 0;
  std::size_t stride_b = 0;
  std::size_t stride_c = 0;
};

/// Several products of one shape: elements from one matrix to the next, 0 for the same one again.
/// Products into the same C follow each other, the ones behind the first with beta = 1.
struct Batch {
  std::size_t count = 1;
  std::size_t step_a = 0;
  std::size_t step_b = 0;
  std::size_t step_c = 0;
};

}  // namespace rondo::core
