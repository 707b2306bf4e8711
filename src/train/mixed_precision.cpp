#include <rondo/train/mixed_precision.hpp>

#include <utility>

#include <fmt/core.h>

#include <rondo/error.hpp>

#include "train/each.hpp"
#include "train/functions/fill.hpp"
#include "train/functions/round.hpp"

namespace rondo::train {

template <class T>
void round_to_bfloat16(std::span<const T> from, std::span<T> to, Compute& place) {
  each(place, RoundToBfloat16<T>(), from.size(), from, to);
}

template <class T>
MasterWeights<T>::MasterWeights(std::vector<Parameter<T>*> parameters)
    : parameters_(std::move(parameters)) {
  for (const Parameter<T>* parameter : parameters_)
    kept_.emplace_back(parameter->value().shape(), parameter->value().place());
}

template <class T>
void MasterWeights<T>::round() {
  if (std::exchange(rounded_, true)) return;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    Tensor<T>& value = parameters_[i]->value();
    if (&value.place() != &kept_[i].place())
      throw Error(ErrorCode::usage, fmt::format("parameter '{}' was moved after its master weights "
                                                "were made",
                                                parameters_[i]->name()));
    each(value.place(), Copy<T>(), value.size(), std::as_const(value).span(), kept_[i].span());
    round_to_bfloat16<T>(value.span(), value.span(), value.place());
  }
}

template <class T>
void MasterWeights<T>::restore() {
  if (!std::exchange(rounded_, false)) return;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    Tensor<T>& value = parameters_[i]->value();
    each(value.place(), Copy<T>(), value.size(), std::as_const(kept_[i]).span(), value.span());
  }
}

template void round_to_bfloat16(std::span<const float>, std::span<float>, Compute&);
template void round_to_bfloat16(std::span<const double>, std::span<double>, Compute&);
template class MasterWeights<float>;
template class MasterWeights<double>;

}  // namespace rondo::train
