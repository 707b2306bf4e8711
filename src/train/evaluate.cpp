#include <rondo/train/evaluate.hpp>

#include <algorithm>
#include <vector>

#include <rondo/train/loader.hpp>

namespace rondo::train {
namespace {
constexpr std::size_t kSamplesAtOnce = 1024;
}

template <class T>
RegressionScore evaluate(Communicator& communicator, Layer<T>& model, const Dataset& data,
                         std::span<const std::size_t> samples) {
  std::vector<std::size_t> mine;
  for (std::size_t i = communicator.rank(); i < samples.size(); i += communicator.size())
    mine.push_back(samples[i]);

  RegressionMetrics metrics;
  for (std::size_t begin = 0; begin < mine.size(); begin += kSamplesAtOnce) {
    const std::size_t count = std::min(kSamplesAtOnce, mine.size() - begin);
    const auto batch = gather_batch<T>(data, std::span(mine).subspan(begin, count));
    const std::span<const T> predictions = model.forward(batch.features, count);
    for (std::size_t i = 0; i < count; ++i) metrics.add(predictions[i], batch.targets[i]);
  }
  return metrics.score(communicator);
}

template RegressionScore evaluate(Communicator&, Layer<float>&, const Dataset&,
                                  std::span<const std::size_t>);
template RegressionScore evaluate(Communicator&, Layer<double>&, const Dataset&,
                                  std::span<const std::size_t>);

}  // namespace rondo::train
