#include "core/element.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/instruction_set_test.hpp"
#include "core/reduce.hpp"
#include "support/reduce_reference.hpp"

/// The reductions of one element, which devices run, against the vector kernels.
namespace rondo::core {
namespace {

using reference::for_each_type_and_op;
using reference::same;

class ElementTest : public InstructionSetTest {};
RONDO_FOR_EACH_INSTRUCTION_SET(ElementTest);

template <class T>
T from_float(double value) {
  return static_cast<T>(static_cast<Accumulator<T>>(value));
}

/// Zeros, subnormals, what overflows, infinities, NaNs, what rounds to even: all there is to get
/// wrong, in every pair.
template <class T>
std::vector<T> special_values() {
  if constexpr (std::is_integral_v<T>) {
    using Limits = std::numeric_limits<T>;
    return {Limits::min(), Limits::max(), T(0), T(1), T(-1), T(2), T(Limits::max() / 2 + 1), T(77)};
  } else {
    std::vector<T> values;
    const double infinity = std::numeric_limits<double>::infinity();
    using Limits = std::numeric_limits<Accumulator<T>>;
    for (const double value :
         {0.0, 1.0, 3.0, 1.00390625, 1.0009765625, 0.333, 65504.0, 40000.0, 2048.0, 2049.0, 6e-8,
          3e-8, 6.1e-5, double{Limits::max()}, double{Limits::min()}, double{Limits::denorm_min()},
          infinity, std::nan("")}) {
      values.push_back(from_float<T>(value));
      values.push_back(from_float<T>(-value));
    }
    return values;
  }
}

/// All pairs of special values, then random ones.
template <class T>
void fill_operands(std::vector<T>& left, std::vector<T>& right) {
  const std::vector<T> special = special_values<T>();
  for (const T a : special)
    for (const T b : special) {
      left.push_back(a);
      right.push_back(b);
    }
  for (const T value : reference::random_values<T>(20'000, 1)) left.push_back(value);
  for (const T value : reference::random_values<T>(20'000, 2)) right.push_back(value);
}

template <ReduceOp op, class T>
T combined(T a, T b) {
  return from_accumulator<T>(combine<op>(to_accumulator(a), to_accumulator(b)));
}

template <class T>
T combined(ReduceOp op, T a, T b) {
  switch (op) {
    case ReduceOp::sum:
      return combined<ReduceOp::sum>(a, b);
    case ReduceOp::prod:
      return combined<ReduceOp::prod>(a, b);
    case ReduceOp::min:
      return combined<ReduceOp::min>(a, b);
    case ReduceOp::max:
      return combined<ReduceOp::max>(a, b);
    case ReduceOp::avg:
      break;
  }
  return combined<ReduceOp::avg>(a, b);
}

TEST_P(ElementTest, EveryTypeAndOpCombinesAsTheVectorKernelsDo) {
  for_each_type_and_op([]<class T>(ReduceOp op) {
    std::vector<T> left;
    std::vector<T> right;
    fill_operands(left, right);
    std::vector<T> out(left.size());
    reduce(data_type_of<T>, op, left.data(), right.data(), out.data(), out.size());
    for (std::size_t i = 0; i < out.size(); ++i)
      ASSERT_TRUE(same(combined(op, left[i], right[i]), out[i]))
          << name_of(data_type_of<T>) << ' ' << name_of(op) << ' ' << +to_accumulator(left[i])
          << " and " << +to_accumulator(right[i]);
  });
}

}  // namespace
}  // namespace rondo::core
