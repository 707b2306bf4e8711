#include "train/bucket_reduction.hpp"

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

}  // namespace

std::unique_ptr<BucketReduction> make_bucket_reduction(Buffer bucket) {
  return std::make_unique<PlainReduction>(bucket);
}

}  // namespace rondo::train
