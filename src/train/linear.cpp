#include <rondo/train/linear.hpp>

#include <algorithm>
#include <cmath>

#include "train/blas.hpp"
#include "train/initialise.hpp"
#include "train/memory.hpp"
#include "train/rows.hpp"

namespace rondo::train {

template <class T>
Linear<T>::Linear(const std::string& name, std::size_t inputs, std::size_t outputs)
    : Layer<T>(name, inputs, outputs),
      weight_(name + ".weight", {outputs, inputs}),
      bias_(name + ".bias", {outputs}) {}

template <class T>
void Linear<T>::initialise(std::uint64_t seed) {
  draw_uniform<T>(parameters(), 1.0 / std::sqrt(static_cast<double>(this->inputs())), seed);
}

template <class T>
std::span<const T> Linear<T>::apply(std::span<const T> input, const Pass&) {
  const std::size_t rows = this->rows();
  const std::span<T> output = grown(output_, rows * this->outputs());
  fill_rows<T>(output, bias_.value().span());
  blas::multiply<T>(
      {.transpose_b = true, .rows = rows, .columns = this->outputs(), .inner = this->inputs()},
      input.data(), weight_.value().data(), T{1}, output.data());
  return output;
}

template <class T>
std::span<const T> Linear<T>::differentiate(std::span<const T> output_gradient,
                                            const GradientReady& ready, InputGradient wanted) {
  const std::size_t rows = this->rows();
  sum_rows<T>(output_gradient, bias_.gradient());
  ready(1);
  blas::multiply<T>(
      {.transpose_a = true, .rows = this->outputs(), .columns = this->inputs(), .inner = rows},
      output_gradient.data(), this->input().data(), T{0}, weight_.gradient().data());
  ready(0);
  if (wanted == InputGradient::skip) return {};
  const std::span<T> gradient = grown(input_gradient_, rows * this->inputs());
  blas::multiply<T>({.rows = rows, .columns = this->inputs(), .inner = this->outputs()},
                    output_gradient.data(), weight_.value().data(), T{0}, gradient.data());
  return gradient;
}

template class Linear<float>;
template class Linear<double>;

}  // namespace rondo::train
