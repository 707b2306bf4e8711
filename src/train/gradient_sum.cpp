#include "train/gradient_sum.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/reduce.hpp"

namespace rondo::train {

void GradientSum::add(ConstBuffer gradient) {
  const DataType type = gradient.type;
  const DataType wide = accumulator_of(type);
  sum_.resize(gradient.count * size_of(wide));
  if (std::exchange(empty_, false))
    return core::load(type, 1.0, gradient.data, sum_.data(), gradient.count);
  if (wide == type)
    return core::reduce(type, ReduceOp::sum, sum_.data(), gradient.data, sum_.data(),
                        gradient.count);
  std::array<float, 4096> widened;
  const auto* from = static_cast<const std::byte*>(gradient.data);
  for (std::size_t i = 0; i < gradient.count; i += widened.size()) {
    const std::size_t count = std::min(widened.size(), gradient.count - i);
    std::byte* const sum = sum_.data() + i * sizeof(float);
    core::load(type, 1.0, from + i * size_of(type), widened.data(), count);
    core::reduce(DataType::float32, ReduceOp::sum, sum, widened.data(), sum, count);
  }
}

void GradientSum::add_to(Buffer gradient) {
  add(gradient);
  move_to(gradient);
}

void GradientSum::move_to(Buffer gradient) {
  core::finish(gradient.type, 1.0, sum_.data(), gradient.data, gradient.count);
  empty_ = true;
}

}  // namespace rondo::train
