#include <rondo/train/loader.hpp>

#include <algorithm>
#include <iterator>

#include <rondo/error.hpp>
#include <rondo/train/cross_entropy.hpp>

namespace rondo::train {

namespace {

template <class T, class Data>
Batch<T> gather_features(const Data& data, std::span<const std::size_t> samples, T scale) {
  Batch<T> batch;
  batch.numbers.assign(samples.begin(), samples.end());
  batch.features.reserve(samples.size() * data.width());
  for (const std::size_t sample : samples)
    for (const auto value : data.row(sample))
      batch.features.push_back(static_cast<T>(value) * scale);
  return batch;
}

}  // namespace

template <class T>
Batch<T> gather_batch(const Dataset& data, std::span<const std::size_t> samples) {
  Batch<T> batch = gather_features<T>(data, samples, T{1});
  for (const std::size_t sample : samples)
    batch.targets.push_back(static_cast<T>(data.targets[sample]));
  return batch;
}

template <class T>
Batch<T> gather_batch(const LabelledData& data, std::span<const std::size_t> samples) {
  Batch<T> batch = gather_features<T>(data, samples, static_cast<T>(data.scale));
  for (const std::size_t sample : samples) batch.labels.push_back(data.labels[sample]);
  return batch;
}

template <class T>
Batch<T> gather_batch(const TextData& data, std::span<const std::size_t> samples) {
  Batch<T> batch = gather_features<T>(data, samples, T{1});
  for (const std::size_t sample : samples)
    std::ranges::copy(data.labels(sample), std::back_inserter(batch.labels));
  return batch;
}

template <class T>
std::size_t Batch<T>::weight() const {
  if (labels.empty()) return samples();
  return labels.size() - std::ranges::count(labels, kNoTarget);
}

template <class T>
Batch<T> Batch<T>::part(std::size_t part, std::size_t parts) const {
  if (parts == 1) return *this;
  const std::size_t begin = samples() * part / parts;
  const std::size_t end = samples() * (part + 1) / parts;
  Batch result;
  result.index = index;
  const auto take = [&](const auto& all, auto& some) {
    const std::size_t width = samples() == 0 ? 0 : all.size() / samples();
    const auto at = [&](std::size_t sample) {
      return all.begin() + static_cast<std::ptrdiff_t>(sample * width);
    };
    some.assign(at(begin), at(end));
  };
  take(numbers, result.numbers);
  take(features, result.features);
  take(targets, result.targets);
  take(labels, result.labels);
  return result;
}

template <class T>
Loader<T>::Loader(Gather gather, std::span<const std::size_t> samples, const Options& options)
    : gather_(std::move(gather)),
      samples_(samples),
      prefetch_(options.prefetch),
      sampler_({samples.size(), options.batch_size, options.seed, options.rank, options.ranks}) {}

template <class T>
void Loader<T>::start(std::uint64_t epoch, std::size_t first_batch) {
  prefetcher_.reset();  // ends the thread
  sampler_.set_epoch(epoch);
  next_ = first_batch;
  prefetcher_ = std::make_unique<Prefetcher<Batch<T>>>([this] { return prepare(); }, prefetch_);
}

template <class T>
std::optional<Batch<T>> Loader<T>::next() {
  if (!prefetcher_) throw Error(ErrorCode::usage, "call start() before next()");
  return prefetcher_->next();
}

template <class T>
std::optional<Batch<T>> Loader<T>::prepare() {
  if (next_ >= sampler_.batches()) return {};
  std::vector<std::size_t> chosen = sampler_.local_samples(next_);
  for (std::size_t& sample : chosen) sample = samples_[sample];
  Batch<T> batch = gather_(chosen);
  batch.index = next_++;
  return batch;
}

template Batch<float> gather_batch(const Dataset&, std::span<const std::size_t>);
template Batch<double> gather_batch(const Dataset&, std::span<const std::size_t>);
template Batch<float> gather_batch(const LabelledData&, std::span<const std::size_t>);
template Batch<double> gather_batch(const LabelledData&, std::span<const std::size_t>);
template Batch<float> gather_batch(const TextData&, std::span<const std::size_t>);
template Batch<double> gather_batch(const TextData&, std::span<const std::size_t>);
template struct Batch<float>;
template struct Batch<double>;
template class Loader<float>;
template class Loader<double>;

}  // namespace rondo::train
