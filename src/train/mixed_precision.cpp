#include <rondo/train/mixed_precision.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "core/reduce.hpp"

namespace rondo::train {

template <class T>
void round_to_bfloat16(std::span<const T> from, std::span<T> to) {
  std::array<float, 1024> wide;
  std::array<std::uint16_t, 1024> narrow;
  for (std::size_t i = 0; i < from.size(); i += wide.size()) {
    const std::size_t count = std::min(wide.size(), from.size() - i);
    std::transform(from.data() + i, from.data() + i + count, wide.data(),
                   [](T element) { return static_cast<float>(element); });
    core::finish(DataType::bfloat16, 1.0, wide.data(), narrow.data(), count);
    core::load(DataType::bfloat16, 1.0, narrow.data(), wide.data(), count);
    std::copy_n(wide.data(), count, to.data() + i);
  }
}

template <class T>
MasterWeights<T>::MasterWeights(std::vector<Parameter<T>*> parameters)
    : parameters_(std::move(parameters)) {
  for (const Parameter<T>* parameter : parameters_) kept_.emplace_back(parameter->value().shape());
}

template <class T>
void MasterWeights<T>::round() {
  if (std::exchange(rounded_, true)) return;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const std::span<T> value = parameters_[i]->value().span();
    std::ranges::copy(value, kept_[i].data());
    round_to_bfloat16<T>(value, value);
  }
}

template <class T>
void MasterWeights<T>::restore() {
  if (!std::exchange(rounded_, false)) return;
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    std::ranges::copy(kept_[i].span(), parameters_[i]->value().data());
}

template void round_to_bfloat16(std::span<const float>, std::span<float>);
template void round_to_bfloat16(std::span<const double>, std::span<double>);
template class MasterWeights<float>;
template class MasterWeights<double>;

}  // namespace rondo::train
