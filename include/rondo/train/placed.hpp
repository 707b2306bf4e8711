#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <rondo/train/loader.hpp>
#include <rondo/train/tensor.hpp>

namespace rondo::train {

/// Elements of the host where `place` reaches them: themselves, or else a copy in `memory`, which
/// grows and is valid until the next one. T is as of Tensor.
template <class T>
std::span<const T> placed(Compute& place, std::span<const T> elements, Tensor<T>& memory);

/// Elements in `place` where the host reaches them: themselves, or else a copy in `memory`.
template <class T>
std::span<const T> fetched(Compute& place, std::span<const T> elements, Tensor<T>& memory);

/// A batch's arrays where a place reaches them.
template <class T>
struct PlacedBatch {
  std::span<const T> features;
  std::span<const T> targets;
  std::span<const std::uint32_t> labels;
};

/// Memory for placed batches. Each is valid until the next, and as long as the batch itself.
template <class T>
class BatchMemory {
 public:
  PlacedBatch<T> placed(Compute& place, const Batch<T>& batch) {
    return {train::placed<T>(place, batch.features, features_),
            train::placed<T>(place, batch.targets, targets_),
            train::placed<std::uint32_t>(place, batch.labels, labels_)};
  }

 private:
  Tensor<T> features_;
  Tensor<T> targets_;
  Tensor<std::uint32_t> labels_;
};

}  // namespace rondo::train
