#include <algorithm>
#include <array>

#include "core/reduce.hpp"
#include "train/bucket_reductions.hpp"

namespace rondo::train {

namespace {

constexpr std::size_t kChunk = 4096;  // elements that are float32 in between

/// Each rank's share is scaled, then rounded; sums travel in 16 bits on the whole way.
///
///   bytes sent: those of an all-reduce of 2 bytes an element
template <class T>
class HalfReduction final : public BucketReduction {
 public:
  HalfReduction(DataType wire, std::span<T> bucket)
      : wire_type_(wire), bucket_(bucket), wire_(2 * bucket.size()) {}

  Exchange begin(std::size_t /*stage*/, double scale) override {
    narrow(scale);
    const Buffer wire(wire_.data(), bucket_.size(), wire_type_);
    return {.input = wire, .output = wire, .narrow = true};
  }

  void finish() override {
    std::array<float, kChunk> chunk;
    for (std::size_t i = 0; i < bucket_.size(); i += kChunk) {
      const std::size_t count = std::min(kChunk, bucket_.size() - i);
      core::load(wire_type_, 1.0, wire_.data() + 2 * i, chunk.data(), count);
      std::copy_n(chunk.begin(), count, &bucket_[i]);
    }
  }

 private:
  void narrow(double scale) {
    const T factor = static_cast<T>(scale);
    std::array<float, kChunk> chunk;
    for (std::size_t i = 0; i < bucket_.size(); i += kChunk) {
      const std::size_t count = std::min(kChunk, bucket_.size() - i);
      for (std::size_t e = 0; e < count; ++e)
        chunk[e] = static_cast<float>(bucket_[i + e] * factor);
      core::finish(wire_type_, 1.0, chunk.data(), wire_.data() + 2 * i, count);
    }
  }

  DataType wire_type_;
  std::span<T> bucket_;
  SharedVector wire_;
};

}  // namespace

template <class T>
std::unique_ptr<BucketReduction> half_reduction(DataType wire, std::span<T> bucket) {
  return std::make_unique<HalfReduction<T>>(wire, bucket);
}

template std::unique_ptr<BucketReduction> half_reduction(DataType, std::span<float>);
template std::unique_ptr<BucketReduction> half_reduction(DataType, std::span<double>);

}  // namespace rondo::train
