#include "train/gradient_sum.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/reduce.hpp"
#include "train/fold.hpp"

namespace rondo::train {

void GradientSum::add(Compute& place, ConstBuffer gradient) {
  const DataType type = gradient.type;
  const DataType wide = accumulator_of(type);
  const std::size_t words = gradient.count * size_of(wide) / sizeof(std::uint32_t);
  if (sum_.size() < words) sum_ = Tensor<std::uint32_t>({words}, place);
  const bool first = std::exchange(empty_, false);
  if (wide == type) {
    const std::array<const void*, 2> sources{data(), gradient.data};
    return fold(place, {.type = type, .op = ReduceOp::sum}, std::span(sources).subspan(first),
                Buffer(data(), gradient.count, type));
  }
  if (first) return core::load(type, 1.0, gradient.data, data(), gradient.count);
  std::array<float, 4096> widened;
  const auto* from = static_cast<const std::byte*>(gradient.data);
  for (std::size_t i = 0; i < gradient.count; i += widened.size()) {
    const std::size_t count = std::min(widened.size(), gradient.count - i);
    std::byte* const sum = data() + i * sizeof(float);
    core::load(type, 1.0, from + i * size_of(type), widened.data(), count);
    core::reduce(DataType::float32, ReduceOp::sum, sum, widened.data(), sum, count);
  }
}

void GradientSum::add_to(Compute& place, Buffer gradient) {
  add(place, gradient);
  move_to(place, gradient);
}

void GradientSum::move_to(Compute& place, Buffer gradient) {
  const void* const source[]{data()};
  if (accumulator_of(gradient.type) == gradient.type)
    fold(place, {.type = gradient.type, .op = ReduceOp::sum}, source, gradient);
  else
    core::finish(gradient.type, 1.0, data(), gradient.data, gradient.count);
  empty_ = true;
}

}  // namespace rondo::train
