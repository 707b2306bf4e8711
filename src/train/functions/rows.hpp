#pragma once

#include <cstddef>
#include <string>

#include "core/each.hpp"

namespace rondo::train {

/// Makes one row of a matrix `row`.
template <class T>
struct FillRow {
  using Element = T;
  static std::string name() { return "fill_row"; }

  std::size_t columns;

  RONDO_EVERYWHERE void operator()(std::size_t i, T* matrix, const T* row) const {
    T* const to = matrix + i * columns;
    for (std::size_t column = 0; column < columns; ++column) to[column] = row[column];
  }
};

/// Adds up some neighbouring columns of a matrix, row after row.
template <class T>
struct SumColumns {
  using Element = T;
  static std::string name() { return "sum_columns"; }
  static constexpr std::size_t kTogether = 16;

  std::size_t rows;
  std::size_t columns;

  std::size_t groups() const { return (columns + kTogether - 1) / kTogether; }

  RONDO_EVERYWHERE void operator()(std::size_t group, const T* matrix, T* sums) const {
    const std::size_t first = group * kTogether;
    if (columns - first >= kTogether)
      add_up<kTogether>(matrix + first, sums + first);
    else
      for (std::size_t column = first; column < columns; ++column)
        add_up<1>(matrix + column, sums + column);
  }

 private:
  template <std::size_t kCount>
  RONDO_EVERYWHERE void add_up(const T* from, T* to) const {
    T sums[kCount]{};
    for (std::size_t row = 0; row < rows; ++row, from += columns)
      for (std::size_t i = 0; i < kCount; ++i) sums[i] += from[i];
    for (std::size_t i = 0; i < kCount; ++i) to[i] = sums[i];
  }
};

}  // namespace rondo::train
