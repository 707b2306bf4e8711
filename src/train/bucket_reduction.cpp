#include "train/bucket_reduction.hpp"

#include <algorithm>
#include <limits>

#include "train/bucket_reductions.hpp"

namespace rondo::train {

namespace {

/// Sums in place, in the gradients' own type.
class PlainReduction final : public BucketReduction {
 public:
  explicit PlainReduction(Buffer bucket) : bucket_(bucket) {}
  Exchange begin(std::size_t /*stage*/, double scale) override {
    return {.input = bucket_, .output = bucket_, .scale = scale};
  }

 private:
  Buffer bucket_;
};

/// The same, to each element's owner only.
class ShardedReduction final : public BucketReduction {
 public:
  ShardedReduction(Buffer bucket, const BucketShards& shards) : bucket_(bucket), shards_(shards) {}
  Exchange begin(std::size_t /*stage*/, double scale) override {
    return {.kind = Exchange::Kind::scatter,
            .input = bucket_,
            .output = part_of(bucket_, shards_.own),
            .scale = scale,
            .counts = shards_.counts};
  }

 private:
  Buffer bucket_;
  const BucketShards& shards_;
};

bool has_matrix(std::size_t rank, std::span<const BucketPart> parts) {
  return std::ranges::any_of(
      parts, [&](const BucketPart& part) { return powersgd_rank(rank, part.shape) > 0; });
}

template <class T>
std::unique_ptr<BucketReduction> make(const Compression& compression, Buffer bucket,
                                      std::span<const BucketPart> parts, int ranks) {
  const std::span<T> gradients(static_cast<T*>(bucket.data), bucket.count);
  switch (compression.kind) {
    case Compression::Kind::bf16:
      return half_reduction<T>(DataType::bfloat16, gradients);
    case Compression::Kind::f16:
      return half_reduction<T>(DataType::float16, gradients);
    case Compression::Kind::topk:  // places have 32 bits
      if (bucket.count > std::numeric_limits<std::uint32_t>::max()) break;
      return topk_reduction<T>(compression.fraction, gradients, parts, ranks);
    case Compression::Kind::powersgd:
      if (!has_matrix(compression.rank, parts)) break;
      return powersgd_reduction<T>(compression.rank, parts);
    default:
      break;
  }
  return std::make_unique<PlainReduction>(bucket);
}

}  // namespace

std::unique_ptr<BucketReduction> make_bucket_reduction(const Compression& compression,
                                                       Buffer bucket,
                                                       std::span<const BucketPart> parts,
                                                       int ranks) {
  if (bucket.type == DataType::float32) return make<float>(compression, bucket, parts, ranks);
  if (bucket.type == DataType::float64) return make<double>(compression, bucket, parts, ranks);
  return std::make_unique<PlainReduction>(bucket);
}

std::unique_ptr<BucketReduction> sharded_reduction(Buffer bucket, const BucketShards& shards) {
  return std::make_unique<ShardedReduction>(bucket, shards);
}

}  // namespace rondo::train
