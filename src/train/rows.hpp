#pragma once

#include <span>

#include <rondo/train/compute.hpp>

#include "train/each.hpp"
#include "train/functions/rows.hpp"

namespace rondo::train {

/// Makes every row of a matrix `row`.
template <class T>
void fill_rows(Compute& place, std::span<T> matrix, std::span<const T> row) {
  each(place, FillRow<T>{row.size()}, matrix.size() / row.size(), matrix, row);
}

/// Writes the sum of a matrix's rows, which are as long as `sum`.
template <class T>
void sum_rows(Compute& place, std::span<const T> matrix, std::span<T> sum) {
  const SumColumns<T> columns{matrix.size() / sum.size(), sum.size()};
  each(place, columns, columns.groups(), matrix, sum);
}

}  // namespace rondo::train
