#include <rondo/train/cross_entropy.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <fmt/core.h>

#include <rondo/error.hpp>

namespace rondo::train {

namespace {

void check_sizes(std::size_t logits, std::size_t targets, std::size_t gradient) {
  if ((targets == 0) != (logits == 0) || (targets > 0 && logits % targets != 0))
    throw Error(ErrorCode::usage,
                fmt::format("cross_entropy() was given {} targets and {} logits; there must be one "
                            "for each class and target",
                            targets, logits));
  if (gradient != 0 && gradient != logits)
    throw Error(ErrorCode::usage,
                fmt::format("cross_entropy() was given {} logits and room for {} gradients; they "
                            "must be equally many",
                            logits, gradient));
}

void check_target(std::size_t row, std::uint32_t target, std::size_t classes) {
  if (target >= classes)
    throw Error(ErrorCode::usage,
                fmt::format("the target of row {} is class {}; there are {} classes, from 0 on",
                            row, target, classes));
}

/// One row's loss; its gradient too, unless that is empty.
template <class T>
double row_loss(std::span<const T> logits, std::uint32_t target, std::span<T> gradient) {
  const T largest = *std::ranges::max_element(logits);
  double sum = 0.0;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const T power = std::exp(logits[i] - largest);
    sum += static_cast<double>(power);
    if (!gradient.empty()) gradient[i] = power;
  }
  const T factor = static_cast<T>(1.0 / sum);
  for (T& element : gradient) element *= factor;
  if (!gradient.empty()) gradient[target] -= T{1};
  return std::log(sum) + static_cast<double>(largest - logits[target]);
}

}  // namespace

template <class T>
double cross_entropy(std::span<const T> logits, std::span<const std::uint32_t> targets,
                     std::span<T> gradient) {
  check_sizes(logits.size(), targets.size(), gradient.size());
  double sum = 0.0;
  for (std::size_t row = 0; row < targets.size(); ++row) {
    const std::size_t classes = logits.size() / targets.size();
    const std::span<T> row_gradient =
        gradient.empty() ? gradient : gradient.subspan(row * classes, classes);
    if (targets[row] == kNoTarget) {
      std::ranges::fill(row_gradient, T{0});
      continue;
    }
    check_target(row, targets[row], classes);
    sum += row_loss<T>(logits.subspan(row * classes, classes), targets[row], row_gradient);
  }
  return sum;
}

template double cross_entropy(std::span<const float>, std::span<const std::uint32_t>,
                              std::span<float>);
template double cross_entropy(std::span<const double>, std::span<const std::uint32_t>,
                              std::span<double>);

}  // namespace rondo::train
