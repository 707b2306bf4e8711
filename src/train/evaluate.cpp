#include <rondo/train/evaluate.hpp>

#include <algorithm>
#include <vector>

#include <fmt/core.h>

#include <rondo/error.hpp>
#include <rondo/train/cross_entropy.hpp>
#include <rondo/train/loader.hpp>
#include <rondo/train/placed.hpp>

namespace rondo::train {
namespace {

/// So many that their outputs fill 4 MiB of floats, within limits.
std::size_t samples_at_once(std::size_t outputs) {
  return std::clamp((std::size_t{1} << 20) / outputs, std::size_t{1}, std::size_t{1024});
}

/// Calls add(batch, i, outputs) for each of this rank's samples: every size-th of `samples`.
template <class T, class Data, class Add>
void for_each_sample(const Communicator& communicator, Layer<T>& model, const Data& data,
                     std::span<const std::size_t> samples, Add add) {
  std::vector<std::size_t> mine;
  for (std::size_t i = communicator.rank(); i < samples.size(); i += communicator.size())
    mine.push_back(samples[i]);
  const std::size_t at_once = samples_at_once(model.outputs());
  Tensor<T> features;
  Tensor<T> fetched_outputs;
  for (std::size_t begin = 0; begin < mine.size(); begin += at_once) {
    const std::size_t count = std::min(at_once, mine.size() - begin);
    const auto batch = gather_batch<T>(data, std::span(mine).subspan(begin, count));
    const auto placed_outputs =
        model.forward(placed<T>(model.place(), batch.features, features), count);
    const auto outputs = fetched<T>(model.place(), placed_outputs, fetched_outputs);
    for (std::size_t i = 0; i < count; ++i)
      add(batch, i, outputs.subspan(i * model.outputs(), model.outputs()));
  }
}

}  // namespace

template <class T>
RegressionScore evaluate(Communicator& communicator, Layer<T>& model, const Dataset& data,
                         std::span<const std::size_t> samples) {
  RegressionMetrics metrics;
  for_each_sample(communicator, model, data, samples,
                  [&](const Batch<T>& batch, std::size_t i, std::span<const T> outputs) {
                    metrics.add(outputs[0], batch.targets[i]);
                  });
  return metrics.score(communicator);
}

template <class T>
ClassificationScore evaluate(Communicator& communicator, Layer<T>& model, const LabelledData& data,
                             std::span<const std::size_t> samples) {
  if (model.outputs() < data.classes())  // on all ranks alike, before any waits for another
    throw Error(ErrorCode::usage, fmt::format("a model with {} outputs can't tell {} classes apart",
                                              model.outputs(), data.classes()));
  ClassificationMetrics metrics;
  for_each_sample(communicator, model, data, samples,
                  [&](const Batch<T>& batch, std::size_t i, std::span<const T> outputs) {
                    metrics.add(outputs, batch.labels[i]);
                  });
  return metrics.score(communicator);
}

template <class T>
ClassificationScore evaluate(Communicator& communicator, Layer<T>& model, const TextData& data,
                             std::span<const std::size_t> samples) {
  const std::size_t classes = data.classes();
  if (model.outputs() != data.context * classes)
    throw Error(ErrorCode::usage,
                fmt::format("a model with {} outputs can't predict {} characters of {} kinds",
                            model.outputs(), data.context, classes));
  ClassificationMetrics metrics;
  for_each_sample(communicator, model, data, samples,
                  [&](const Batch<T>& batch, std::size_t i, std::span<const T> outputs) {
                    for (std::size_t position = 0; position < data.context; ++position) {
                      const std::uint32_t label = batch.labels[i * data.context + position];
                      if (label != kNoTarget)
                        metrics.add(outputs.subspan(position * classes, classes), label);
                    }
                  });
  return metrics.score(communicator);
}

template RegressionScore evaluate(Communicator&, Layer<float>&, const Dataset&,
                                  std::span<const std::size_t>);
template RegressionScore evaluate(Communicator&, Layer<double>&, const Dataset&,
                                  std::span<const std::size_t>);

template ClassificationScore evaluate(Communicator&, Layer<float>&, const LabelledData&,
                                      std::span<const std::size_t>);
template ClassificationScore evaluate(Communicator&, Layer<double>&, const LabelledData&,
                                      std::span<const std::size_t>);

template ClassificationScore evaluate(Communicator&, Layer<float>&, const TextData&,
                                      std::span<const std::size_t>);
template ClassificationScore evaluate(Communicator&, Layer<double>&, const TextData&,
                                      std::span<const std::size_t>);

}  // namespace rondo::train
