#pragma once

#include <cstdint>
#include <span>

namespace rondo::train {

/// The sum over the rows of -log softmax(logits)[target], added up in double: what PyTorch calls
/// CrossEntropyLoss(reduction='sum'). `logits` has a row of one number a class for each target, a
/// class counted from 0. Writes its gradient, softmax(logits) - [class = target], to `gradient`
/// unless that is empty. The largest logit of a row is subtracted first, so exp() can't overflow.
///
/// The mean over the samples of all ranks comes later: the reducer divides gradients by the number
/// of samples. Throws Error(usage) when sizes don't match, and when a target is not among the
/// classes, naming its row. T is float or double.
template <class T>
double cross_entropy(std::span<const T> logits, std::span<const std::uint32_t> targets,
                     std::span<T> gradient = {});

extern template double cross_entropy(std::span<const float>, std::span<const std::uint32_t>,
                                     std::span<float>);
extern template double cross_entropy(std::span<const double>, std::span<const std::uint32_t>,
                                     std::span<double>);

}  // namespace rondo::train
