#include <rondo/train/attention.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include <rondo/error.hpp>

#include "train/initialise.hpp"
#include "train/project.hpp"

namespace rondo::train {

namespace {

std::size_t checked_heads(const std::string& name, std::size_t width, std::size_t heads) {
  if (heads == 0 || width % heads != 0)
    throw Error(ErrorCode::usage,
                fmt::format("layer '{}' can't cut {} features into {} heads of equal size", name,
                            width, heads));
  return heads;
}

/// Makes a row of scores the softmax of its first `seen`, times `scale`, and the rest 0.
template <class T>
void masked_softmax(std::span<T> scores, std::size_t seen, T scale) {
  const std::span<T> visible = scores.first(seen);
  const T largest = *std::ranges::max_element(visible);
  T sum = 0;
  for (T& score : visible) {
    score = std::exp(scale * (score - largest));
    sum += score;
  }
  for (T& score : visible) score /= sum;
  std::ranges::fill(scores.subspan(seen), T{0});
}

/// From the gradients of a row's softmax s, those of the scores: scale·s·(g - Σ g·s).
template <class T>
void differentiate_softmax(std::span<const T> softmax, T scale, std::span<T> gradient) {
  T sum = 0;
  for (std::size_t i = 0; i < softmax.size(); ++i) sum += gradient[i] * softmax[i];
  for (std::size_t i = 0; i < softmax.size(); ++i)
    gradient[i] = scale * softmax[i] * (gradient[i] - sum);
}

}  // namespace

template <class T>
CausalSelfAttention<T>::CausalSelfAttention(const std::string& name, std::size_t positions,
                                            std::size_t width, std::size_t heads)
    : Layer<T>(name, positions * width, positions * width),
      positions_(positions),
      width_(width),
      heads_(checked_heads(name, width, heads)),
      depth_(width / heads),
      in_weight_(name + ".in_weight", {3 * width, width}),
      in_bias_(name + ".in_bias", {3 * width}),
      out_weight_(name + ".out_weight", {width, width}),
      out_bias_(name + ".out_bias", {width}),
      scores_gradient_({positions, positions}) {}

template <class T>
void CausalSelfAttention<T>::initialise(std::uint64_t seed) {
  const auto width = static_cast<double>(width_);
  Parameter<T>* const in[] = {&in_weight_};
  Parameter<T>* const out[] = {&out_weight_};
  draw_uniform<T>(in, std::sqrt(6.0 / (4.0 * width)), SplitMix::at(seed, 0));
  draw_uniform<T>(out, 1.0 / std::sqrt(width), SplitMix::at(seed, 1));
  std::ranges::fill(in_bias_.value().span(), T{0});
  std::ranges::fill(out_bias_.value().span(), T{0});
}

template <class T>
std::span<const T> CausalSelfAttention<T>::apply(std::span<const T> input, const Pass&) {
  project(input, in_weight_, in_bias_, projected_);
  grown(scores_, this->rows() * heads_ * positions_ * positions_);
  const std::span<const T> mixed = grown(mixed_, input.size());
  for (std::size_t row = 0; row < this->rows(); ++row)
    for (std::size_t head = 0; head < heads_; ++head) attend(row, head);
  return project(mixed, out_weight_, out_bias_, output_);
}

template <class T>
void CausalSelfAttention<T>::attend(std::size_t row, std::size_t head) {
  const T* const q = projected_.data() + place(row, head, 3);
  const T* const k = q + width_;
  const T* const v = k + width_;
  T* const scores = scores_.data() + scores_of(row, head);
  const std::size_t stride = 3 * width_;
  blas::multiply<T>({.transpose_b = true,
                     .rows = positions_,
                     .columns = positions_,
                     .inner = depth_,
                     .stride_a = stride,
                     .stride_b = stride},
                    q, k, T{0}, scores);
  const T scale = T{1} / std::sqrt(static_cast<T>(depth_));
  for (std::size_t position = 0; position < positions_; ++position)
    masked_softmax(std::span(scores + position * positions_, positions_), position + 1, scale);
  blas::multiply<T>({.rows = positions_,
                     .columns = depth_,
                     .inner = positions_,
                     .stride_b = stride,
                     .stride_c = width_},
                    scores, v, T{0}, mixed_.data() + place(row, head, 1));
}

template <class T>
std::span<const T> CausalSelfAttention<T>::differentiate(std::span<const T> output_gradient,
                                                         const GradientReady& ready,
                                                         InputGradient wanted) {
  sum_rows(Layer<T>::place(), output_gradient, out_bias_.gradient());
  ready(3);
  differentiate_projection<T>(output_gradient, mixed_.span().first(output_gradient.size()),
                              out_weight_);
  ready(2);
  project_back(output_gradient, out_weight_, mixed_gradient_);
  const std::span<const T> projected = grown(projected_gradient_, 3 * output_gradient.size());
  for (std::size_t row = 0; row < this->rows(); ++row)
    for (std::size_t head = 0; head < heads_; ++head) differentiate_head(row, head);
  sum_rows(Layer<T>::place(), projected, in_bias_.gradient());
  ready(1);
  differentiate_projection(projected, this->input(), in_weight_);
  ready(0);
  if (wanted == InputGradient::skip) return {};
  return project_back(projected, in_weight_, input_gradient_);
}

template <class T>
void CausalSelfAttention<T>::differentiate_head(std::size_t row, std::size_t head) {
  const std::size_t stride = 3 * width_;
  const T* const q = projected_.data() + place(row, head, 3);
  const T* const k = q + width_;
  const T* const v = k + width_;
  T* const dq = projected_gradient_.data() + place(row, head, 3);
  T* const dk = dq + width_;
  T* const dv = dk + width_;
  const T* const dy = mixed_gradient_.data() + place(row, head, 1);
  const T* const softmax = scores_.data() + scores_of(row, head);
  T* const ds = scores_gradient_.data();

  const blas::Product to_positions{.transpose_b = true,
                                   .rows = positions_,
                                   .columns = positions_,
                                   .inner = depth_,
                                   .stride_a = width_,
                                   .stride_b = stride};
  blas::multiply<T>(to_positions, dy, v, T{0}, ds);
  blas::Product to_depth{.transpose_a = true,
                         .rows = positions_,
                         .columns = depth_,
                         .inner = positions_,
                         .stride_b = width_,
                         .stride_c = stride};
  blas::multiply<T>(to_depth, softmax, dy, T{0}, dv);
  const T scale = T{1} / std::sqrt(static_cast<T>(depth_));
  for (std::size_t i = 0; i < positions_ * positions_; i += positions_)
    differentiate_softmax(std::span(softmax + i, positions_), scale, std::span(ds + i, positions_));
  to_depth.stride_b = stride;
  blas::multiply<T>(to_depth, ds, q, T{0}, dk);
  to_depth.transpose_a = false;
  blas::multiply<T>(to_depth, ds, k, T{0}, dq);
}

template class CausalSelfAttention<float>;
template class CausalSelfAttention<double>;

}  // namespace rondo::train
