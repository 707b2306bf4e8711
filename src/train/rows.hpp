#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace rondo::train {

/// Makes every row of a matrix `row`.
template <class T>
void fill_rows(std::span<T> matrix, std::span<const T> row) {
  for (std::size_t begin = 0; begin < matrix.size(); begin += row.size())
    std::ranges::copy(row, matrix.subspan(begin).begin());
}

/// Writes the sum of a matrix's rows, which are as long as `sum`.
template <class T>
void sum_rows(std::span<const T> matrix, std::span<T> sum) {
  std::ranges::fill(sum, T{0});
  for (std::size_t begin = 0; begin < matrix.size(); begin += sum.size())
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += matrix[begin + i];
}

}  // namespace rondo::train
