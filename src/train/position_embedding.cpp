#include <rondo/train/position_embedding.hpp>

#include <algorithm>
#include <functional>

#include "train/initialise.hpp"
#include "train/memory.hpp"
#include "train/rows.hpp"

namespace rondo::train {

template <class T>
PositionEmbedding<T>::PositionEmbedding(const std::string& name, std::size_t positions,
                                        std::size_t width)
    : Layer<T>(name, positions * width, positions * width),
      weight_(name + ".weight", {positions, width}) {}

template <class T>
void PositionEmbedding<T>::initialise(std::uint64_t seed) {
  draw_normal(weight_.value().span(), seed);
  for (T& element : weight_.value().span()) element *= static_cast<T>(0.02);
}

template <class T>
std::span<const T> PositionEmbedding<T>::apply(std::span<const T> input, const Pass&) {
  const std::span<T> output = grown(output_, input.size());
  fill_rows<T>(this->place(), output, weight_.value().span());
  std::ranges::transform(output, input, output.begin(), std::plus<T>());
  return output;
}

template <class T>
std::span<const T> PositionEmbedding<T>::differentiate(std::span<const T> output_gradient,
                                                       const GradientReady& ready, InputGradient) {
  sum_rows(this->place(), output_gradient, weight_.gradient());
  ready(0);
  return output_gradient;
}

template class PositionEmbedding<float>;
template class PositionEmbedding<double>;

}  // namespace rondo::train
