#include <rondo/train/lstm.hpp>

#include <algorithm>
#include <cmath>

#include "core/functions.hpp"
#include "train/initialise.hpp"
#include "train/project.hpp"

namespace rondo::train {

template <class T>
Lstm<T>::Lstm(const std::string& name, std::size_t positions, std::size_t features,
              std::size_t hidden)
    : Layer<T>(name, positions * features, positions * hidden),
      positions_(positions),
      features_(features),
      hidden_(hidden),
      weight_ih_(name + ".weight_ih", {4 * hidden, features}),
      weight_hh_(name + ".weight_hh", {4 * hidden, hidden}),
      bias_ih_(name + ".bias_ih", {4 * hidden}),
      bias_hh_(name + ".bias_hh", {4 * hidden}) {}

template <class T>
void Lstm<T>::initialise(std::uint64_t seed) {
  draw_uniform<T>(parameters(), 1.0 / std::sqrt(static_cast<double>(hidden_)), seed);
}

/// The inputs' part of all gates is one product; the states' part must wait for each position.
template <class T>
std::span<const T> Lstm<T>::apply(std::span<const T> input, const Pass&) {
  const std::size_t steps = this->rows() * positions_;
  project(input, weight_ih_, bias_ih_, gates_);
  const std::span<const T> output = grown(output_, steps * hidden_);
  grown(cells_, steps * hidden_);
  for (std::size_t position = 0; position < positions_; ++position) {
    if (position > 0) add_previous_states(position);
    advance(position);
  }
  return output;
}

template <class T>
void Lstm<T>::add_previous_states(std::size_t position) {
  blas::multiply<T>({.transpose_b = true,
                     .rows = this->rows(),
                     .columns = 4 * hidden_,
                     .inner = hidden_,
                     .stride_a = this->outputs(),
                     .stride_c = 4 * this->outputs()},
                    output_.data() + (position - 1) * hidden_, weight_hh_.value().data(), T{1},
                    gates_.data() + position * 4 * hidden_);
}

template <class T>
void Lstm<T>::advance(std::size_t position) {
  const T* const bias = bias_hh_.value().data();
  for (std::size_t row = 0; row < this->rows(); ++row) {
    const std::size_t step = row * positions_ + position;
    T* const i = gates_.data() + step * 4 * hidden_;
    T* const f = i + hidden_;
    T* const g = f + hidden_;
    T* const o = g + hidden_;
    T* const c = cells_.data() + step * hidden_;
    T* const h = output_.data() + step * hidden_;
    for (std::size_t k = 0; k < 4 * hidden_; ++k) i[k] += bias[k];
    core::sigmoid(i, i, 2 * hidden_);
    core::tanh(g, g, hidden_);
    core::sigmoid(o, o, hidden_);
    for (std::size_t k = 0; k < hidden_; ++k)
      c[k] = i[k] * g[k] + (position > 0 ? f[k] * c[k - hidden_] : T{0});
    core::tanh(c, h, hidden_);
    for (std::size_t k = 0; k < hidden_; ++k) h[k] *= o[k];
  }
}

template <class T>
std::span<const T> Lstm<T>::differentiate(std::span<const T> output_gradient,
                                          const GradientReady& ready, InputGradient wanted) {
  const std::size_t steps = this->rows() * positions_;
  const std::span<const T> gates = grown(gate_gradients_, steps * 4 * hidden_);
  std::ranges::fill(grown(state_gradient_, this->rows() * hidden_), T{0});
  std::ranges::fill(grown(cell_gradient_, this->rows() * hidden_), T{0});
  for (std::size_t position = positions_; position-- > 0;)
    differentiate_position(position, output_gradient);

  sum_rows(this->place(), gates, bias_hh_.gradient());
  ready(3);
  std::ranges::copy(bias_hh_.gradient(), bias_ih_.gradient().begin());
  ready(2);
  differentiate_weight_hh();
  ready(1);
  differentiate_projection(gates, this->input(), weight_ih_);
  ready(0);
  if (wanted == InputGradient::skip) return {};
  return project_back(gates, weight_ih_, input_gradient_);
}

template <class T>
void Lstm<T>::differentiate_position(std::size_t position, std::span<const T> output_gradient) {
  for (std::size_t row = 0; row < this->rows(); ++row) {
    const std::size_t step = row * positions_ + position;
    const T* const i = gates_.data() + step * 4 * hidden_;
    const T* const f = i + hidden_;
    const T* const g = f + hidden_;
    const T* const o = g + hidden_;
    const T* const c = cells_.data() + step * hidden_;
    T* const to = gate_gradients_.data() + step * 4 * hidden_;
    T* const from_behind = cell_gradient_.data() + row * hidden_;
    T* const squashed_cells = to + 3 * hidden_;  // until o's gradient takes their place
    core::tanh(c, squashed_cells, hidden_);
    for (std::size_t k = 0; k < hidden_; ++k) {
      const T dh = output_gradient[step * hidden_ + k] + state_gradient_[row * hidden_ + k];
      const T squashed = squashed_cells[k];
      const T dc = from_behind[k] + dh * o[k] * (T{1} - squashed * squashed);
      const T before = position > 0 ? c[k - hidden_] : T{0};
      to[k] = dc * g[k] * i[k] * (T{1} - i[k]);
      to[hidden_ + k] = dc * before * f[k] * (T{1} - f[k]);
      to[2 * hidden_ + k] = dc * i[k] * (T{1} - g[k] * g[k]);
      to[3 * hidden_ + k] = dh * squashed * o[k] * (T{1} - o[k]);
      from_behind[k] = dc * f[k];
    }
  }
  if (position > 0)
    blas::multiply<T>({.rows = this->rows(),
                       .columns = hidden_,
                       .inner = 4 * hidden_,
                       .stride_a = 4 * this->outputs()},
                      gate_gradients_.data() + position * 4 * hidden_, weight_hh_.value().data(),
                      T{0}, state_gradient_.data());
}

/// Of each position's gates with the states of the position before; the first had none.
template <class T>
void Lstm<T>::differentiate_weight_hh() {
  if (positions_ == 1) std::ranges::fill(weight_hh_.gradient(), T{0});
  for (std::size_t position = 1; position < positions_; ++position)
    blas::multiply<T>({.transpose_a = true,
                       .rows = 4 * hidden_,
                       .columns = hidden_,
                       .inner = this->rows(),
                       .stride_a = 4 * this->outputs(),
                       .stride_b = this->outputs()},
                      gate_gradients_.data() + position * 4 * hidden_,
                      output_.data() + (position - 1) * hidden_, position == 1 ? T{0} : T{1},
                      weight_hh_.gradient().data());
}

template class Lstm<float>;
template class Lstm<double>;

}  // namespace rondo::train
