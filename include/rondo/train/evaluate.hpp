#pragma once

#include <cstddef>
#include <span>

#include <rondo/communicator.hpp>
#include <rondo/train/dataset.hpp>
#include <rondo/train/labelled_data.hpp>
#include <rondo/train/layer.hpp>
#include <rondo/train/metrics.hpp>
#include <rondo/train/text_data.hpp>

namespace rondo::train {

/// Scores a model with one output on `samples`, each of which is counted once, by one rank.
/// Collective: all ranks hold the same model, `data` and `samples`. T is float or double.
template <class T>
RegressionScore evaluate(Communicator& communicator, Layer<T>& model, const Dataset& data,
                         std::span<const std::size_t> samples);

/// Likewise a model with one output for each class, at least data.classes(). Throws Error(usage)
/// when it has fewer.
template <class T>
ClassificationScore evaluate(Communicator& communicator, Layer<T>& model, const LabelledData& data,
                             std::span<const std::size_t> samples);

/// Likewise a model with data.context rows of outputs a sample, one for each character of the
/// alphabet: what is counted, once each, are characters to predict.
template <class T>
ClassificationScore evaluate(Communicator& communicator, Layer<T>& model, const TextData& data,
                             std::span<const std::size_t> samples);

}  // namespace rondo::train
