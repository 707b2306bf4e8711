#include <rondo/train/residual.hpp>

#include <fmt/core.h>

#include <rondo/error.hpp>

#include "train/each.hpp"
#include "train/functions/fill.hpp"
#include "train/memory.hpp"

namespace rondo::train {

namespace {

template <class T>
std::span<const T> sum(Compute& place, std::span<const T> a, std::span<const T> b,
                       Tensor<T>& memory) {
  const std::span<T> result = grown(place, memory, a.size());
  each(place, Add<T>(), a.size(), a, b, result);
  return result;
}

}  // namespace

template <class T>
Residual<T>::Residual(std::unique_ptr<Layer<T>> inner)
    : Layer<T>("residual", inner->inputs(), inner->outputs()), inner_(std::move(inner)) {
  if (this->inputs() != this->outputs())
    throw Error(
        ErrorCode::usage,
        fmt::format("'{}' has {} inputs and {} outputs; a residual layer adds them, so they "
                    "must be equally many",
                    inner_->name(), this->inputs(), this->outputs()));
}

template <class T>
std::span<const T> Residual<T>::apply(std::span<const T> input, const Pass& pass) {
  return sum(this->place(), input, inner_->forward(input, this->rows(), pass), output_);
}

template <class T>
std::span<const T> Residual<T>::differentiate(std::span<const T> output_gradient,
                                              const GradientReady& ready, InputGradient wanted) {
  const std::span<const T> gradient = inner_->backward(output_gradient, ready, wanted);
  if (wanted == InputGradient::skip) return {};
  return sum(this->place(), output_gradient, gradient, input_gradient_);
}

template class Residual<float>;
template class Residual<double>;

}  // namespace rondo::train
