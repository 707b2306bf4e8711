#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <rondo/buffer.hpp>
#include <rondo/train/array.hpp>
#include <rondo/train/compression.hpp>

namespace rondo::train {

/// Before a parameter's name, in the names of what error feedback has left over, and of the thin
/// matrices from which powersgd starts.
inline constexpr const char* kResidualPrefix = "reducer.residual.";
inline constexpr const char* kWarmStartPrefix = "reducer.q.";

/// A collective that a bucket needs.
struct Exchange {
  enum class Kind { sum, gather, scatter };  // all-reduce, all-gather, reduce-scatter
  Kind kind = Kind::sum;
  ConstBuffer input;
  Buffer output;
  double scale = 1.0;                     // of a sum's inputs
  bool narrow = false;                    // 16 bits on the whole way
  std::span<const std::size_t> counts{};  // of each rank's elements; empty: equally many
};

/// A parameter's gradient in a bucket.
struct BucketPart {
  std::string name;
  std::vector<std::size_t> shape;
  Buffer gradient;
};

/// Which of a bucket's elements the ranks own: their counts, in rank order, and this rank's.
struct BucketShards {
  std::vector<std::size_t> counts;
  Slice own;
};

/// Elements of `buffer`.
inline Buffer part_of(Buffer buffer, Slice slice) {
  return {static_cast<std::byte*>(buffer.data) + slice.begin * size_of(buffer.type), slice.count,
          buffer.type};
}

/// How one bucket's gradients become sums over all ranks, multiplied by `scale`: in one or more
/// stages, each of them local work and then an exchange that is over before the next stage begins.
/// Made from what all ranks have alike, so that stages and sizes are alike.
class BucketReduction {
 public:
  virtual ~BucketReduction() = default;
  virtual std::size_t stages() const { return 1; }
  virtual Exchange begin(std::size_t stage, double scale) = 0;
  /// After the last stage: writes the bucket.
  virtual void finish() {}
  /// The step is taken, not skipped: what it left for the next one holds, but for what belongs to
  /// sums that are not finite, which would stay so for ever.
  virtual void keep() {}
  /// Appends what the next step depends on, valid until then: this rank's own, and what all ranks
  /// have alike.
  virtual void add_residuals(std::vector<ArrayView>& /*views*/) {}
  virtual void add_state(std::vector<ArrayView>& /*views*/) {}
};

/// `parts` lie one after another in `bucket`, which outlives the reduction; `ranks` take part.
std::unique_ptr<BucketReduction> make_bucket_reduction(const Compression& compression,
                                                       Buffer bucket,
                                                       std::span<const BucketPart> parts,
                                                       int ranks);
/// Plain sums that reach their owners only. `bucket` and `shards` outlive the reduction.
std::unique_ptr<BucketReduction> sharded_reduction(Buffer bucket, const BucketShards& shards);

}  // namespace rondo::train
