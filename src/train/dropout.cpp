#include <rondo/train/dropout.hpp>

#include <string_view>

#include <fmt/core.h>

#include <rondo/error.hpp>
#include <rondo/train/placed.hpp>

#include "core/digest.hpp"
#include "train/each.hpp"
#include "train/functions/dropout.hpp"
#include "train/functions/fill.hpp"
#include "train/memory.hpp"
#include "train/random.hpp"

namespace rondo::train {

namespace {

std::uint64_t number_of(std::string_view name) {
  core::Digest digest;
  digest.add(name);
  return digest.value();
}

template <class T>
std::span<const T> product(Compute& place, std::span<const T> a, std::span<const T> mask,
                           Tensor<T>& memory) {
  const std::span<T> result = grown(place, memory, a.size());
  each(place, Scale<T>(), a.size(), a, mask, result);
  return result;
}

}  // namespace

template <class T>
Dropout<T>::Dropout(const std::string& name, std::size_t features, double probability)
    : Layer<T>(name, features, features), probability_(probability), number_(number_of(name)) {
  if (!(probability >= 0.0 && probability < 1.0))
    throw Error(ErrorCode::usage, fmt::format("layer '{}' can't drop elements with probability {}; "
                                              "it must be in [0, 1)",
                                              name, probability));
}

template <class T>
void Dropout<T>::draw_mask(const Pass& pass, std::span<T> mask) {
  const std::uint64_t step = mix(mix(mix(pass.seed) + number_) + pass.step);
  seeds_.clear();
  for (const std::size_t sample : pass.samples) seeds_.push_back(mix(step + sample));
  const DropoutMask<T> draw{this->inputs(), probability_,
                            static_cast<T>(1.0 / (1.0 - probability_))};
  each(this->place(), draw, this->rows(),
       placed<std::uint64_t>(this->place(), seeds_, placed_seeds_), mask);
}

template <class T>
std::span<const T> Dropout<T>::apply(std::span<const T> input, const Pass& pass) {
  changes_ = pass.training && probability_ > 0.0;
  if (!changes_) return input;
  if (pass.samples.size() != this->rows())
    throw Error(
        ErrorCode::usage,
        fmt::format("'{}' was given {} rows, but the pass has {} sample numbers; in training "
                    "it needs one for each row",
                    this->name(), this->rows(), pass.samples.size()));
  const std::span<T> mask = grown(this->place(), mask_, input.size());
  draw_mask(pass, mask);
  return product<T>(this->place(), input, mask, output_);
}

template <class T>
std::span<const T> Dropout<T>::differentiate(std::span<const T> output_gradient,
                                             const GradientReady&, InputGradient wanted) {
  if (wanted == InputGradient::skip) return {};
  if (!changes_) return output_gradient;
  return product<T>(this->place(), output_gradient, mask_.span().first(output_gradient.size()),
                    input_gradient_);
}

template class Dropout<float>;
template class Dropout<double>;

}  // namespace rondo::train
