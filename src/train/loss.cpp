#include <rondo/train/loss.hpp>

#include <cstddef>

#include <fmt/core.h>

#include <rondo/error.hpp>

namespace rondo::train {

template <class T>
double squared_error(std::span<const T> prediction, std::span<const T> target,
                     std::span<T> gradient) {
  const std::size_t count = prediction.size();
  if (target.size() != count || (!gradient.empty() && gradient.size() != count))
    throw Error(ErrorCode::usage,
                fmt::format("squared_error() was given {} predictions, {} targets and room for {} "
                            "gradients; they must be equally many",
                            count, target.size(), gradient.size()));
  double sum = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    const T difference = prediction[i] - target[i];
    sum += static_cast<double>(difference) * static_cast<double>(difference);
    if (!gradient.empty()) gradient[i] = T{2} * difference;
  }
  return sum;
}

template double squared_error(std::span<const float>, std::span<const float>, std::span<float>);
template double squared_error(std::span<const double>, std::span<const double>, std::span<double>);

}  // namespace rondo::train
