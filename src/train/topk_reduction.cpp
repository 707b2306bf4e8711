#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

#include "core/reduce.hpp"
#include "train/all_finite.hpp"
#include "train/bucket_reductions.hpp"
#include "train/select_largest.hpp"

namespace rondo::train {

namespace {

/// Of scale · gradient + residual, each rank sends its k largest elements to all others; the rest
/// is the next step's residual. They are added in rank order, so all ranks get the same bits.
///
///   a rank's record: k values | k places of 4 bytes
///   bytes sent:      those of an all-gather of k · (4 + size of T) bytes a rank
template <class T>
class TopkReduction final : public BucketReduction {
 public:
  TopkReduction(double fraction, std::span<T> bucket, std::span<const BucketPart> parts, int ranks)
      : bucket_(bucket),
        parts_(parts.begin(), parts.end()),
        chosen_(number_chosen(fraction, bucket.size())),
        places_(chosen_),
        residual_(bucket.size()),
        left_over_(bucket.size()),
        mine_(record_bytes()),
        all_(record_bytes() * static_cast<std::size_t>(ranks)) {}

  Exchange begin(std::size_t /*stage*/, double scale) override {
    T* const sum = left_over_.data();
    core::load(data_type_of<T>, scale, bucket_.data(), sum, bucket_.size());
    core::reduce(data_type_of<T>, ReduceOp::sum, residual_.data(), sum, sum, bucket_.size());
    select_largest<T>(left_over_, chosen_, places_);
    std::byte* value = mine_.data();
    for (const std::uint32_t place : places_) {
      const T taken = std::exchange(left_over_[place], T{0});
      std::memcpy(value, &taken, sizeof(T));
      value += sizeof(T);
    }
    if (chosen_ > 0) std::memcpy(value, places_.data(), chosen_ * sizeof(std::uint32_t));
    return {.kind = Exchange::Kind::gather,
            .input = {mine_.data(), mine_.size(), DataType::uint8},
            .output = {all_.data(), all_.size(), DataType::uint8}};
  }

  void finish() override {
    std::ranges::fill(bucket_, T{0});
    for (std::size_t record = 0; record < all_.size(); record += record_bytes()) {
      const std::byte* value = all_.data() + record;
      const std::byte* place = value + chosen_ * sizeof(T);
      for (std::size_t i = 0; i < chosen_; ++i) {
        T sent;
        std::uint32_t where;
        std::memcpy(&sent, value + i * sizeof(T), sizeof(T));
        std::memcpy(&where, place + i * sizeof(where), sizeof(where));
        bucket_[where] += sent;
      }
    }
  }

  void keep() override {
    if (all_finite(Buffer(bucket_))) std::swap(residual_, left_over_);
  }

  void add_residuals(std::vector<ArrayView>& views) override {
    for (const BucketPart& part : parts_) {
      const auto offset = static_cast<T*>(part.gradient.data) - bucket_.data();
      views.push_back({std::string(kResidualPrefix) + part.name, data_type_of<T>, part.shape,
                       residual_.data() + offset});
    }
  }

 private:
  static std::size_t number_chosen(double fraction, std::size_t count) {
    const double wanted = std::ceil(fraction * static_cast<double>(count));
    return std::min(count, static_cast<std::size_t>(wanted));
  }
  std::size_t record_bytes() const { return chosen_ * (sizeof(T) + sizeof(std::uint32_t)); }

  std::span<T> bucket_;
  std::vector<BucketPart> parts_;
  std::size_t chosen_;
  std::vector<std::uint32_t> places_;
  std::vector<T> residual_;
  std::vector<T> left_over_;  // the next residual, unless the step is skipped
  SharedVector mine_;
  SharedVector all_;
};

}  // namespace

template <class T>
std::unique_ptr<BucketReduction> topk_reduction(double fraction, std::span<T> bucket,
                                                std::span<const BucketPart> parts, int ranks) {
  return std::make_unique<TopkReduction<T>>(fraction, bucket, parts, ranks);
}

template std::unique_ptr<BucketReduction> topk_reduction(double, std::span<float>,
                                                         std::span<const BucketPart>, int);
template std::unique_ptr<BucketReduction> topk_reduction(double, std::span<double>,
                                                         std::span<const BucketPart>, int);

}  // namespace rondo::train
