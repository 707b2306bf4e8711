#include "collectives/arithmetic.hpp"

#include <cstring>

#include "core/reduce.hpp"

namespace rondo::collectives {

Arithmetic::Arithmetic(DataType element, ReduceOp op, int ranks, double scale, bool narrow)
    : element_(element),
      partial_(narrow ? element : accumulator_of(element)),
      op_(op),
      scale_(scale),
      element_bytes_(size_of(element_)),
      partial_bytes_(size_of(partial_)) {
  if (op != ReduceOp::avg) return;
  const core::AverageScaling average = core::average_scaling(ranks);
  scale_ *= average.scale;
  divisor_ = average.divisor;
}

Arithmetic::Arithmetic(DataType element)
    : element_(element),
      partial_(element),
      element_bytes_(size_of(element)),
      partial_bytes_(size_of(element)) {}

void Arithmetic::load(const void* input, void* partial, std::size_t count) const {
  const bool narrow = element_ == partial_ && accumulator_of(element_) != element_;
  if (!must_load()) {
    if (input != partial && count > 0) std::memcpy(partial, input, count * partial_bytes_);
  } else if (narrow) {
    rescale(scale_, 1.0, input, partial, count);
  } else {
    core::load(element_, scale_, input, partial, count);
  }
}

void Arithmetic::combine(const void* a, const void* b, void* out, std::size_t count) const {
  core::reduce(partial_, op_, a, b, out, count);
}

void Arithmetic::reduce_all(std::span<const void* const> inputs, void* out, std::size_t count,
                            Value result) const {
  const bool partial = result == Value::partial;
  core::reduce_many({element_, op_, scale_, partial ? 1.0 : divisor_, partial}, inputs, out, count);
}

void Arithmetic::finish(const void* partial, void* out, std::size_t count) const {
  if (element_ != partial_) {
    core::finish(element_, divisor_, partial, out, count);
  } else if (divisor_ == 1.0) {
    if (partial != out && count > 0) std::memcpy(out, partial, count * element_bytes_);
  } else if (accumulator_of(element_) != element_) {
    rescale(1.0, divisor_, partial, out, count);
  } else {
    core::finish(element_, divisor_, partial, out, count);
  }
}

void Arithmetic::rescale(double scale, double divisor, const void* in, void* out,
                         std::size_t count) const {
  const core::Fold fold{element_, op_, scale, divisor, false};
  core::reduce_many(fold, {&in, 1}, out, count);
}

}  // namespace rondo::collectives
