#include <rondo/train/loss.hpp>

#include <cstddef>

#include <fmt/core.h>

#include <rondo/error.hpp>

#include "train/each.hpp"
#include "train/functions/losses.hpp"

namespace rondo::train {

template <class T>
double squared_error(std::span<const T> prediction, std::span<const T> target,
                     std::span<T> gradient, Compute& place) {
  const std::size_t count = prediction.size();
  if (target.size() != count || (!gradient.empty() && gradient.size() != count))
    throw Error(ErrorCode::usage,
                fmt::format("squared_error() was given {} predictions, {} targets and room for {} "
                            "gradients; they must be equally many",
                            count, target.size(), gradient.size()));
  return sum_each(place, SquaredError<T>(), count, prediction, target, gradient);
}

template double squared_error(std::span<const float>, std::span<const float>, std::span<float>,
                              Compute&);
template double squared_error(std::span<const double>, std::span<const double>, std::span<double>,
                              Compute&);

}  // namespace rondo::train
