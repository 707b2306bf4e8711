#include <rondo/train/embedding.hpp>

#include <algorithm>

#include <fmt/core.h>

#include <rondo/error.hpp>

#include "train/initialise.hpp"
#include "train/memory.hpp"

namespace rondo::train {

template <class T>
Embedding<T>::Embedding(const std::string& name, std::size_t positions, std::size_t count,
                        std::size_t width)
    : Layer<T>(name, positions, positions * width),
      count_(count),
      width_(width),
      weight_(name + ".weight", {count, width}) {
  constexpr std::size_t kMost = std::size_t{1} << 24;
  if (count == 0 || count > kMost)
    throw Error(ErrorCode::usage,
                fmt::format("layer '{}' wants {} words; 1 to {} are possible", name, count, kMost));
}

template <class T>
void Embedding<T>::initialise(std::uint64_t seed) {
  draw_normal(weight_.value().span(), seed);
}

template <class T>
std::size_t Embedding<T>::word_at(std::size_t i) const {
  const T given = this->input()[i];
  if (!(given >= T{0} && given < static_cast<T>(count_)) ||
      given != static_cast<T>(static_cast<std::size_t>(given)))
    throw Error(
        ErrorCode::usage,
        fmt::format("row {}, position {} of what '{}' was given is {}; words are numbered "
                    "from 0 to {}",
                    i / this->inputs(), i % this->inputs(), this->name(), given, count_ - 1));
  return static_cast<std::size_t>(given);
}

template <class T>
std::span<const T> Embedding<T>::apply(std::span<const T> input, const Pass&) {
  const std::span<T> output = grown(output_, input.size() * width_);
  for (std::size_t i = 0; i < input.size(); ++i)
    std::copy_n(weight_.value().data() + word_at(i) * width_, width_, output.data() + i * width_);
  return output;
}

template <class T>
std::span<const T> Embedding<T>::differentiate(std::span<const T> output_gradient,
                                               const GradientReady& ready, InputGradient wanted) {
  if (wanted == InputGradient::compute)
    throw Error(ErrorCode::usage,
                fmt::format("'{}' must be a model's first layer: numbers of words "
                            "have no gradient",
                            this->name()));
  const std::span<T> gradient = weight_.gradient();
  std::ranges::fill(gradient, T{0});
  for (std::size_t i = 0; i < this->input().size(); ++i) {
    const std::size_t row = word_at(i) * width_;
    for (std::size_t k = 0; k < width_; ++k) gradient[row + k] += output_gradient[i * width_ + k];
  }
  ready(0);
  return {};
}

template class Embedding<float>;
template class Embedding<double>;

}  // namespace rondo::train
