#include "train/block_norm.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "train/fold.hpp"

namespace rondo::train {

namespace {

/// The sum of squares of one block.
template <class T>
double square_sum(const T* elements, std::size_t count) {
  std::array<double, kNormLanes> lanes{};
  std::size_t i = 0;
  for (; count - i >= kNormLanes; i += kNormLanes)
    for (std::size_t lane = 0; lane < kNormLanes; ++lane) {
      const auto element = static_cast<double>(elements[i + lane]);
      lanes[lane] += element * element;
    }
  for (std::size_t lane = 0; i < count; ++lane, ++i) {
    const auto element = static_cast<double>(elements[i]);
    lanes[lane] += element * element;
  }
  double sum = 0.0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

double square_sum(ConstBuffer block) {
  if (block.type == DataType::float32)
    return square_sum(static_cast<const float*>(block.data), block.count);
  if (block.type == DataType::float64)
    return square_sum(static_cast<const double*>(block.data), block.count);
  std::array<float, kNormBlock> wide;
  core::load(block.type, 1.0, block.data, wide.data(), block.count);
  return square_sum(wide.data(), block.count);
}

}  // namespace

void block_squares(ConstBuffer elements, double* sums) {
  const auto* bytes = static_cast<const std::byte*>(elements.data);
  for (std::size_t i = 0; i < elements.count; i += kNormBlock)
    *sums++ = square_sum(ConstBuffer(bytes + i * size_of(elements.type),
                                     std::min(kNormBlock, elements.count - i), elements.type));
}

double norm_of(std::span<const double> block_sums) {
  double sum = 0.0;
  for (const double block : block_sums) sum += block;
  return std::sqrt(sum);
}

double clip_factor(double norm, double limit) {
  const double factor = limit / (norm + 1e-6);
  return factor > 1.0 ? 1.0 : factor;
}

void multiply_by(Compute& place, Buffer data, double factor) {
  const void* const source[] = {data.data};
  fold(place, {.type = data.type, .op = ReduceOp::sum, .scale = factor}, source, data);
}

}  // namespace rondo::train
