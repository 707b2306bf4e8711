#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <rondo/train/dataset.hpp>
#include <rondo/train/labelled_data.hpp>
#include <rondo/train/prefetcher.hpp>
#include <rondo/train/sampler.hpp>
#include <rondo/train/text_data.hpp>

namespace rondo::train {

/// This rank's samples of one global batch, as T; maybe none.
template <class T>
struct Batch {
  std::size_t index = 0;              ///< of the global batch in its epoch
  std::vector<std::size_t> numbers;   ///< the samples', in the data set; for Pass
  std::vector<T> features;            ///< row-major, samples() × width
  std::vector<T> targets;             ///< one a sample, from Dataset
  std::vector<std::uint32_t> labels;  ///< one a sample, from LabelledData; context, from TextData

  std::size_t samples() const { return numbers.size(); }
  /// Over how many targets losses and gradients are averaged: samples, but for TextData.
  std::size_t weight() const;
  /// The part-th of `parts` nearly equal parts, in order; some have no samples if there are more
  /// parts than samples.
  Batch part(std::size_t part, std::size_t parts) const;
};

/// The features and the targets or labels of the given samples, in that order.
template <class T>
Batch<T> gather_batch(const Dataset& data, std::span<const std::size_t> samples);
template <class T>
Batch<T> gather_batch(const LabelledData& data, std::span<const std::size_t> samples);
template <class T>
Batch<T> gather_batch(const TextData& data, std::span<const std::size_t> samples);

/// Gives this rank's batches of an epoch, prepared ahead on a thread. Batches come as `sampler`
/// has them. Not collective; one consumer. T is float or double.
template <class T>
class Loader {
 public:
  struct Options {
    std::size_t batch_size = 1;  ///< of all ranks together
    std::uint64_t seed = 0;
    Rank rank = 0;
    int ranks = 1;
    std::size_t prefetch = 2;  ///< batches that may wait
  };
  /// Gives the samples numbered `samples` of `data`, which gather_batch() takes; both must outlive
  /// the loader. Call start() before next().
  template <class Data>
  Loader(const Data& data, std::span<const std::size_t> samples, const Options& options)
      : Loader(Gather([&data](std::span<const std::size_t> s) { return gather_batch<T>(data, s); }),
               samples, options) {}

  /// Global batches in an epoch; the same on all ranks.
  std::size_t batches() const { return sampler_.batches(); }

  /// Goes to global batch `first_batch` of `epoch`.
  void start(std::uint64_t epoch, std::size_t first_batch = 0);

  /// The next batch; empty at the end of the epoch. Throws what preparing it threw.
  std::optional<Batch<T>> next();

 private:
  using Gather = std::function<Batch<T>(std::span<const std::size_t>)>;
  Loader(Gather gather, std::span<const std::size_t> samples, const Options& options);

  std::optional<Batch<T>> prepare();

  Gather gather_;
  std::span<const std::size_t> samples_;
  std::size_t prefetch_;
  Sampler sampler_;       // used by the thread while there is one, as next_ is
  std::size_t next_ = 0;  // the batch to prepare
  std::unique_ptr<Prefetcher<Batch<T>>> prefetcher_;
};

extern template class Loader<float>;
extern template class Loader<double>;

}  // namespace rondo::train
