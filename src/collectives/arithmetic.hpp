#pragma once

#include <cstddef>
#include <span>

#include <rondo/types.hpp>

#include "collectives/plan.hpp"
#include "core/reduce.hpp"

namespace rondo::collectives {

/// What the elements of one operation are and how they are combined: the types of finished and of
/// partial values, the scaling of inputs and of results.
class Arithmetic {
 public:
  /// For a reduction over `ranks`. Inputs are multiplied by `scale`; avg divides by the number of
  /// ranks without overflowing. `narrow`: partial values of the 16-bit types stay in their type.
  Arithmetic(DataType element, ReduceOp op, int ranks, double scale, bool narrow);
  /// For collectives that only move elements.
  explicit Arithmetic(DataType element);
  Arithmetic() : Arithmetic(DataType::uint8) {}

  std::size_t bytes_of(Value value) const {
    return value == Value::partial ? partial_bytes_ : element_bytes_;
  }
  /// True when an input can't serve as a partial value as it is.
  bool must_load() const { return element_ != partial_ || scale_ != 1.0; }
  bool partial_is_element() const { return element_ == partial_; }

  /// partial = scale · input
  void load(const void* input, void* partial, std::size_t count) const;
  /// out = a ⊕ b, all partial
  void combine(const void* a, const void* b, void* out, std::size_t count) const;
  /// out = all inputs, scaled, combined in their order, in one pass: partial or finished
  void reduce_all(std::span<const void* const> inputs, void* out, std::size_t count,
                  Value result = Value::finished) const;
  /// What reduce_all() does for finished values, for those who do it elsewhere.
  core::Fold fold() const { return {element_, op_, scale_, divisor_, false}; }
  /// out (an element) = partial / divisor, rounded once
  void finish(const void* partial, void* out, std::size_t count) const;

 private:
  /// Element to element, through the accumulator type.
  void rescale(double scale, double divisor, const void* in, void* out, std::size_t count) const;

  DataType element_;
  DataType partial_;
  ReduceOp op_ = ReduceOp::sum;
  double scale_ = 1.0;
  double divisor_ = 1.0;
  std::size_t element_bytes_;
  std::size_t partial_bytes_;
};

}  // namespace rondo::collectives
