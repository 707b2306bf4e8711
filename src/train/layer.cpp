#include <rondo/train/layer.hpp>

#include <limits>

#include <fmt/core.h>

#include <rondo/error.hpp>
#include <rondo/train/mixed_precision.hpp>

#include "train/each.hpp"
#include "train/functions/fill.hpp"
#include "train/memory.hpp"

namespace rondo::train {

namespace {

void check_features(const std::string& name, std::size_t features) {
  constexpr std::size_t kMost = std::numeric_limits<int>::max();
  if (features == 0 || features > kMost)
    throw Error(ErrorCode::usage,
                fmt::format("layer '{}' wants {} inputs or outputs; 1 to {} are possible", name,
                            features, kMost));
}

void check_size(const char* what, const std::string& layer, std::size_t got, std::size_t rows,
                std::size_t columns) {
  if (got != rows * columns)
    throw Error(ErrorCode::usage, fmt::format("{} of '{}' has {} elements; {} rows of {} need {}",
                                              what, layer, got, rows, columns, rows * columns));
}

}  // namespace

template <class T>
Layer<T>::Layer(std::string name, std::size_t inputs, std::size_t outputs)
    : name_(std::move(name)), inputs_(inputs), outputs_(outputs) {
  check_features(name_, inputs);
  check_features(name_, outputs);
}

template <class T>
std::vector<std::string> Layer<T>::unique_names() {
  std::vector<std::string> names;
  for (const Parameter<T>* parameter : parameters()) names.push_back(parameter->name());
  return names;
}

template <class T>
void Layer<T>::move_to(Compute& place) {
  if (!place.on_host() && !goes_anywhere())
    throw Error(ErrorCode::usage, fmt::format("layer '{}' computes on the host only", name_));
  for (Parameter<T>* parameter : parameters()) parameter->move_to(place);
  place_ = &place;
}

template <class T>
std::span<const T> Layer<T>::forward(std::span<const T> input, std::size_t rows, const Pass& pass) {
  check_size("the input", name_, input.size(), rows, inputs_);
  rows_ = rows;
  precision_ = pass.precision;
  input_ = factor(input, rounded_input_);
  return rows == 0 ? std::span<const T>() : apply(input_, pass);
}

template <class T>
std::span<const T> Layer<T>::backward(std::span<const T> output_gradient,
                                      const GradientReady& ready, InputGradient wanted) {
  check_size("the output's gradient", name_, output_gradient.size(), rows_, outputs_);
  if (rows_ > 0) return differentiate(factor(output_gradient, rounded_gradient_), ready, wanted);
  const std::vector<Parameter<T>*> all = parameters();
  for (std::size_t i = all.size(); i-- > 0;) {  // sums over no rows
    each(*place_, Fill<T>{T{0}}, all[i]->size(), all[i]->gradient());
    ready(i);
  }
  return {};
}

template <class T>
std::span<const T> Layer<T>::factor(std::span<const T> given, Tensor<T>& memory) const {
  if (precision_ == Precision::full || !multiplies()) return given;
  const std::span<T> rounded = grown(*place_, memory, given.size());
  round_to_bfloat16(given, rounded, *place_);
  return rounded;
}

template class Layer<float>;
template class Layer<double>;

}  // namespace rondo::train
