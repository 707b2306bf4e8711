#include "train/orthonormalise.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "train/random.hpp"

namespace rondo::train {

namespace {

/// Term e goes to partial sum e % 8, as vectors of any width can have it.
template <class T>
double product_of(std::span<const T> a, std::span<const T> b) {
  constexpr std::size_t kLanes = 8;
  std::array<double, kLanes> lanes{};
  std::size_t i = 0;
  for (; a.size() - i >= kLanes; i += kLanes)
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      lanes[lane] += static_cast<double>(a[i + lane]) * static_cast<double>(b[i + lane]);
  for (; i < a.size(); ++i)
    lanes[i % kLanes] += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  double sum = 0.0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

/// Makes the last row orthogonal to the others, and its norm 1; false if it depends on them.
template <class T>
bool make_orthonormal(std::span<T> matrix, std::size_t width) {
  const std::span<T> row = matrix.last(width);
  const double before = std::sqrt(product_of<T>(row, row));
  for (std::size_t begin = 0; begin + width < matrix.size(); begin += width) {
    const std::span<const T> other = matrix.subspan(begin, width);
    const T part = static_cast<T>(product_of<T>(other, row));
    for (std::size_t i = 0; i < width; ++i) row[i] -= part * other[i];
  }
  const double norm = std::sqrt(product_of<T>(row, row));
  if (norm <= 16.0 * double{std::numeric_limits<T>::epsilon()} * before) return false;
  for (T& element : row) element = static_cast<T>(static_cast<double>(element) / norm);
  return true;
}

}  // namespace

template <class T>
void orthonormalise(std::span<T> matrix, std::size_t count, Replace dependent, std::uint64_t seed) {
  const std::size_t width = matrix.size() / count;
  for (std::size_t k = 0; k < count; ++k) {
    const std::span<T> rows = matrix.first((k + 1) * width);
    if (make_orthonormal(rows, width)) continue;
    const std::span<T> row = rows.last(width);
    std::ranges::fill(row, T{0});
    if (dependent == Replace::by_zeros) continue;
    for (std::size_t i = 0; i < width; ++i)
      row[i] = static_cast<T>(2.0 * unit_interval(SplitMix::at(seed, k * width + i)) - 1.0);
    if (!make_orthonormal(rows, width)) std::ranges::fill(row, T{0});
  }
}

template void orthonormalise(std::span<float>, std::size_t, Replace, std::uint64_t);
template void orthonormalise(std::span<double>, std::size_t, Replace, std::uint64_t);

}  // namespace rondo::train
