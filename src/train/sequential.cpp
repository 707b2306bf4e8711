#include <rondo/train/sequential.hpp>

#include <algorithm>

#include <fmt/core.h>

#include <rondo/error.hpp>

#include "train/random.hpp"

namespace rondo::train {

namespace {

template <class T>
const std::vector<std::unique_ptr<Layer<T>>>& checked_chain(
    const std::vector<std::unique_ptr<Layer<T>>>& layers) {
  if (layers.empty()) throw Error(ErrorCode::usage, "a sequence of no layers computes nothing");
  for (std::size_t i = 1; i < layers.size(); ++i)
    if (layers[i - 1]->outputs() != layers[i]->inputs())
      throw Error(
          ErrorCode::usage,
          fmt::format("layer {}, '{}', gives {} outputs, but '{}' behind it takes {} inputs", i - 1,
                      layers[i - 1]->name(), layers[i - 1]->outputs(), layers[i]->name(),
                      layers[i]->inputs()));
  return layers;
}

void check_unique(std::vector<std::string> names) {
  std::ranges::sort(names);
  const auto twice = std::ranges::adjacent_find(names);
  if (twice != names.end())
    throw Error(ErrorCode::usage,
                fmt::format("two layers of a model have the name '{}'; name them apart", *twice));
}

}  // namespace

template <class T>
Sequential<T>::Sequential(std::vector<std::unique_ptr<Layer<T>>> layers)
    : Layer<T>("sequential", checked_chain<T>(layers).front()->inputs(),
               checked_chain<T>(layers).back()->outputs()),
      layers_(std::move(layers)) {
  std::size_t parameters = 0;
  for (const auto& layer : layers_) {
    first_parameters_.push_back(parameters);
    parameters += layer->parameters().size();
  }
  check_unique(unique_names());
}

template <class T>
std::vector<Parameter<T>*> Sequential<T>::parameters() {
  std::vector<Parameter<T>*> all;
  for (const auto& layer : layers_)
    for (Parameter<T>* parameter : layer->parameters()) all.push_back(parameter);
  return all;
}

template <class T>
std::vector<std::string> Sequential<T>::unique_names() {
  std::vector<std::string> all;
  for (const auto& layer : layers_)
    for (std::string& name : layer->unique_names()) all.push_back(std::move(name));
  return all;
}

template <class T>
void Sequential<T>::initialise(std::uint64_t seed) {
  for (std::size_t i = 0; i < layers_.size(); ++i) layers_[i]->initialise(SplitMix::at(seed, i));
}

template <class T>
void Sequential<T>::move_to(Compute& place) {
  for (const auto& layer : layers_) layer->move_to(place);
  Layer<T>::move_to(place);
}

template <class T>
std::span<const T> Sequential<T>::apply(std::span<const T> input, const Pass& pass) {
  for (const auto& layer : layers_) input = layer->forward(input, this->rows(), pass);
  return input;
}

template <class T>
std::span<const T> Sequential<T>::differentiate(std::span<const T> output_gradient,
                                                const GradientReady& ready, InputGradient wanted) {
  std::span<const T> gradient = output_gradient;
  for (std::size_t i = layers_.size(); i-- > 0;) {
    const std::size_t first = first_parameters_[i];  // two words: std::function allocates for more
    gradient = layers_[i]->backward(
        gradient, [&ready, first](std::size_t p) { ready(first + p); },
        i > 0 ? InputGradient::compute : wanted);
  }
  return gradient;
}

template class Sequential<float>;
template class Sequential<double>;

}  // namespace rondo::train
