#include <rondo/train/linear.hpp>

#include <cmath>

#include "train/initialise.hpp"
#include "train/project.hpp"

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
  return project(input, weight_, bias_, output_);
}

template <class T>
std::span<const T> Linear<T>::differentiate(std::span<const T> output_gradient,
                                            const GradientReady& ready, InputGradient wanted) {
  sum_rows(this->place(), output_gradient, bias_.gradient());
  ready(1);
  differentiate_projection(output_gradient, this->input(), weight_);
  ready(0);
  if (wanted == InputGradient::skip) return {};
  return project_back(output_gradient, weight_, input_gradient_);
}

template class Linear<float>;
template class Linear<double>;

}  // namespace rondo::train
