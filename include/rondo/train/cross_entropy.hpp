#pragma once

#include <cstdint>
#include <span>

#include <rondo/train/compute.hpp>

namespace rondo::train {

/// The target of a row that has none: it adds nothing to the loss, and its gradient is zeros.
inline constexpr std::uint32_t kNoTarget = 0xFFFF'FFFF;

/// The sum over the rows of -log softmax(logits)[target], added up in double: what PyTorch calls
/// CrossEntropyLoss(reduction='sum'). `logits` has a row of one number a class for each target, a
/// class counted from 0. Writes its gradient, softmax(logits) - [class = target], to `gradient`
/// unless that is empty. The largest logit of a row is subtracted first, so exp() can't overflow.
/// A row is a sample, or a position of one where each position has a target, as in a text.
///
/// The mean over the targets of all ranks comes later: the reducer divides gradients by their
/// number. Everything lies in `place`. Throws Error(usage) when sizes don't match, and when a
/// target is neither among the classes nor kNoTarget, naming its row. T is float or double.
template <class T>
double cross_entropy(std::span<const T> logits, std::span<const std::uint32_t> targets,
                     std::span<T> gradient = {}, Compute& place = Compute::host());

extern template double cross_entropy(std::span<const float>, std::span<const std::uint32_t>,
                                     std::span<float>, Compute&);
extern template double cross_entropy(std::span<const double>, std::span<const std::uint32_t>,
                                     std::span<double>, Compute&);

}  // namespace rondo::train
