#pragma once

#include <cstddef>
#include <memory>

#include <rondo/buffer.hpp>

namespace rondo::train {

/// A collective that a bucket needs.
struct Exchange {
  enum class Kind { sum, gather };  // all-reduce, all-gather
  Kind kind = Kind::sum;
  ConstBuffer input;
  Buffer output;
  double scale = 1.0;   // of a sum's inputs
  bool narrow = false;  // 16 bits on the whole way
};

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
  /// The step is taken, not skipped: what it left for the next one holds.
  virtual void keep() {}
};

/// `bucket` outlives the reduction.
std::unique_ptr<BucketReduction> make_bucket_reduction(Buffer bucket);

}  // namespace rondo::train
