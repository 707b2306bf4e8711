#include <rondo/train/cross_entropy.hpp>

#include <cmath>
#include <cstddef>
#include <vector>

#include <fmt/core.h>

#include <rondo/error.hpp>

#include "train/each.hpp"
#include "train/functions/losses.hpp"

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

/// Throws where a target is no class. Told by the loss, which is NaN then.
void check_targets(Compute& place, std::span<const std::uint32_t> targets, std::size_t classes) {
  std::vector<std::uint32_t> fetched(targets.size());
  place.copy(fetched.data(), targets.data(), targets.size_bytes());
  for (std::size_t row = 0; row < fetched.size(); ++row)
    if (fetched[row] != kNoTarget) check_target(row, fetched[row], classes);
}

}  // namespace

template <class T>
double cross_entropy(std::span<const T> logits, std::span<const std::uint32_t> targets,
                     std::span<T> gradient, Compute& place) {
  check_sizes(logits.size(), targets.size(), gradient.size());
  if (targets.empty()) return 0.0;
  const std::size_t classes = logits.size() / targets.size();
  const double sum = sum_each(place, CrossEntropy<T>{classes, kNoTarget}, targets.size(), logits,
                              targets, gradient);
  if (std::isnan(sum)) check_targets(place, targets, classes);
  return sum;
}

template double cross_entropy(std::span<const float>, std::span<const std::uint32_t>,
                              std::span<float>, Compute&);
template double cross_entropy(std::span<const double>, std::span<const std::uint32_t>,
                              std::span<double>, Compute&);

}  // namespace rondo::train
