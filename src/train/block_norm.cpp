#include "train/block_norm.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/reduce.hpp"

namespace rondo::train {

void BlockSquares::add(ConstBuffer elements) {
  if (elements.type == DataType::float32)
    return add_elements(static_cast<const float*>(elements.data), elements.count);
  if (elements.type == DataType::float64)
    return add_elements(static_cast<const double*>(elements.data), elements.count);
  std::array<float, kNormBlock> wide;
  const auto* bytes = static_cast<const std::byte*>(elements.data);
  for (std::size_t i = 0; i < elements.count; i += wide.size()) {
    const std::size_t count = std::min(wide.size(), elements.count - i);
    core::load(elements.type, 1.0, bytes + i * size_of(elements.type), wide.data(), count);
    add_elements(wide.data(), count);
  }
}

template <class T>
void BlockSquares::add_elements(const T* elements, std::size_t count) {
  while (count > 0) {
    const std::size_t piece = std::min(count, kNormBlock - filled_);
    add_lanes(elements, piece);
    elements += piece;
    count -= piece;
    if (filled_ == kNormBlock) end_block();
  }
}

/// Elements of the open block.
template <class T>
void BlockSquares::add_lanes(const T* elements, std::size_t count) {
  const auto add_one = [&](double element) { lanes_[filled_++ % kNormLanes] += element * element; };
  std::size_t i = 0;
  while (i < count && filled_ % kNormLanes != 0) add_one(static_cast<double>(elements[i++]));
  std::array<double, kNormLanes> lanes = lanes_;
  for (; count - i >= kNormLanes; i += kNormLanes, filled_ += kNormLanes)
    for (std::size_t lane = 0; lane < kNormLanes; ++lane) {
      const auto element = static_cast<double>(elements[i + lane]);
      lanes[lane] += element * element;
    }
  lanes_ = lanes;
  while (i < count) add_one(static_cast<double>(elements[i++]));
}

void BlockSquares::end_block() {
  double sum = 0.0;
  for (double& lane : lanes_) sum += std::exchange(lane, 0.0);
  sums_.push_back(sum);
  filled_ = 0;
}

std::vector<double> BlockSquares::take() {
  if (filled_ > 0) end_block();
  return std::exchange(sums_, {});
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

void multiply_by(Buffer data, double factor) {
  const void* const source[] = {data.data};
  if (data.count > 0)
    core::reduce_many({.type = data.type, .op = ReduceOp::sum, .scale = factor}, source, data.data,
                      data.count);
}

}  // namespace rondo::train
