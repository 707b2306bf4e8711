#include "core/reduce.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <deque>
#include <limits>
#include <string>

#include "core/guarded.hpp"
#include "core/instruction_set_test.hpp"
#include "support/reduce_reference.hpp"

namespace rondo::core {
namespace {

using reference::Accumulator;
using reference::for_each_type_and_op;
using reference::random_values;
using reference::same;

constexpr std::size_t kCounts[] = {0,  1,  2,  3,  7,  8,   15,  16,  17,  31,  32,
                                   33, 63, 64, 65, 97, 127, 129, 256, 259, 1003};
constexpr int kNoAlias = -1;

std::string describe(DataType type, ReduceOp op, std::size_t sources, std::size_t count,
                     std::size_t misalignment, int alias) {
  return fmt::format("{} {}, {} sources of {}, misaligned by {}, out is source {}", name_of(type),
                     name_of(op), sources, count, misalignment, alias);
}

// Sources with canaries, and what their reduction must be.
template <class T>
class Sources {
 public:
  Sources(std::size_t sources, std::size_t count, std::size_t misalignment) {
    for (std::size_t s = 0; s < sources; ++s) {
      values_.push_back(random_values<T>(count, 1 + s + 100 * count));
      memory_.emplace_back(std::span<const T>(values_.back()), misalignment + s);
      pointers_.push_back(memory_.back().data());
    }
  }

  std::span<const void* const> pointers() const { return pointers_; }
  Guarded<T>& operator[](std::size_t source) { return memory_[source]; }

  Accumulator<T> expected(ReduceOp op, std::size_t i, double scale = 1, double divisor = 1) const {
    std::vector<T> column;
    for (const std::vector<T>& source : values_) column.push_back(source[i]);
    return reference::fold<T>(op, column, scale, divisor);
  }

  // Whether everything but source `except` is as it was.
  bool untouched(int except) const {
    for (std::size_t s = 0; s < values_.size(); ++s) {
      if (!memory_[s].canaries_live()) return false;
      const std::vector<T> now = memory_[s].values();
      const bool equal =
          now.empty() || std::memcmp(now.data(), values_[s].data(), now.size() * sizeof(T)) == 0;
      if (!equal && static_cast<int>(s) != except) return false;
    }
    return true;
  }

 private:
  std::vector<std::vector<T>> values_;
  std::deque<Guarded<T>> memory_;
  std::vector<const void*> pointers_;
};

template <class T>
void expect_reduced(ReduceOp op, std::size_t source_count, std::size_t count,
                    std::size_t misalignment, int alias) {
  SCOPED_TRACE(describe(data_type_of<T>, op, source_count, count, misalignment, alias));
  Sources<T> sources(source_count, count, misalignment);
  Guarded<T> separate(std::vector<T>(count), misalignment + 9);
  Guarded<T>& out = alias == kNoAlias ? separate : sources[static_cast<std::size_t>(alias)];

  if (source_count == 2)
    reduce(data_type_of<T>, op, sources[0].data(), sources[1].data(), out.data(), count);
  else
    reduce_many({.type = data_type_of<T>, .op = op}, sources.pointers(), out.data(), count);

  const std::vector<T> actual = out.values();
  for (std::size_t i = 0; i < count; ++i)
    ASSERT_TRUE(same(actual[i], static_cast<T>(sources.expected(op, i)))) << "element " << i;
  EXPECT_TRUE(sources.untouched(alias));
  EXPECT_TRUE(separate.canaries_live());
}

class ReduceTest : public InstructionSetTest {};
RONDO_FOR_EACH_INSTRUCTION_SET(ReduceTest);

TEST_P(ReduceTest, EveryTypeOpAndCountAtAnyAlignment) {
  for_each_type_and_op([]<class T>(ReduceOp op) {
    for (const std::size_t count : kCounts)
      for (const std::size_t sources : {1, 2, 3, 8})
        for (const std::size_t misalignment : {0, 1, 4, 30})
          expect_reduced<T>(op, sources, count, misalignment, kNoAlias);
  });
}

TEST_P(ReduceTest, OutMayBeAnyOneOfTheSources) {
  for_each_type_and_op([]<class T>(ReduceOp op) {
    for (const std::size_t count : {std::size_t{3}, std::size_t{64}, std::size_t{259}})
      for (const int sources : {1, 2, 5})
        for (int alias = 0; alias < sources; ++alias)
          expect_reduced<T>(op, static_cast<std::size_t>(sources), count, 2, alias);
  });
}

TEST_P(ReduceTest, ScalesEveryInputAndDividesTheResult) {
  for_each_type_and_op([]<class T>(ReduceOp op) {
    if constexpr (!std::is_integral_v<T>) {
      for (const auto& [scale, divisor] :
           {AverageScaling{0.25, 0.75}, {0.3, 1.0}, {1.0, 7.0}, {-3.0, 0.5}}) {
        SCOPED_TRACE(describe(data_type_of<T>, op, 3, 131, 1, kNoAlias));
        Sources<T> sources(3, 131, 1);
        Guarded<T> out(std::vector<T>(131), 3);
        reduce_many({data_type_of<T>, op, scale, divisor}, sources.pointers(), out.data(), 131);
        for (std::size_t i = 0; i < 131; ++i)
          ASSERT_TRUE(
              same(out.values()[i], static_cast<T>(sources.expected(op, i, scale, divisor))))
              << "element " << i << ", scale " << scale << ", divisor " << divisor;
        EXPECT_TRUE(sources.untouched(kNoAlias) && out.canaries_live());
      }
    }
  });
}

TEST_P(ReduceTest, PartialResultsStayInTheAccumulatorType) {
  for_each_type_and_op([]<class T>(ReduceOp op) {
    using A = Accumulator<T>;
    SCOPED_TRACE(describe(data_type_of<T>, op, 3, 97, 1, kNoAlias));
    Sources<T> sources(3, 97, 1);
    Guarded<A> out(std::vector<A>(97), 5);
    reduce_many({.type = data_type_of<T>, .op = op, .partial = true}, sources.pointers(),
                out.data(), 97);
    for (std::size_t i = 0; i < 97; ++i)
      ASSERT_TRUE(same(out.values()[i], sources.expected(op, i))) << "element " << i;
    EXPECT_TRUE(out.canaries_live());
  });
}

TEST_P(ReduceTest, LoadThenFinishGivesTheValueBack) {
  for_each_type_and_op([]<class T>(ReduceOp) {
    using A = Accumulator<T>;
    const std::vector<T> values = random_values<T>(131, 7);
    Guarded<T> in(values, 1);
    Guarded<A> accumulator(std::vector<A>(131), 3);
    Guarded<T> out(std::vector<T>(131), 5);
    load(data_type_of<T>, 1.0, in.data(), accumulator.data(), 131);
    finish(data_type_of<T>, 1.0, accumulator.data(), out.data(), 131);
    for (std::size_t i = 0; i < 131; ++i) {
      ASSERT_TRUE(same(accumulator.values()[i], static_cast<A>(values[i]))) << i;
      ASSERT_TRUE(same(out.values()[i], values[i])) << i;
    }
    EXPECT_TRUE(accumulator.canaries_live() && out.canaries_live());
  });
}

TEST_P(ReduceTest, MultipliesEveryPairOfBytes) {
  std::vector<std::int8_t> a(0x1'0000), b(0x1'0000), out(0x1'0000);
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<std::int8_t>(i);
    b[i] = static_cast<std::int8_t>(i >> 8);
  }
  for (const DataType type : {DataType::int8, DataType::uint8}) {
    reduce(type, ReduceOp::prod, a.data(), b.data(), out.data(), out.size());
    for (std::size_t i = 0; i < a.size(); ++i)
      ASSERT_EQ(out[i], static_cast<std::int8_t>(a[i] * b[i])) << int{a[i]} << "*" << int{b[i]};
  }
}

template <class T>
T reduced(ReduceOp op, T a, T b) {
  // A whole vector and the tail must agree, so the element is repeated through both.
  const std::vector<T> as(67, a), bs(67, b);
  std::vector<T> out(67);
  reduce(data_type_of<T>, op, as.data(), bs.data(), out.data(), out.size());
  for (const T& value : out) EXPECT_EQ(std::memcmp(&value, &out[0], sizeof(T)), 0);
  return out[0];
}

TEST_P(ReduceTest, MinusZeroIsLessThanPlusZeroInAnyOrder) {
  for_each_type_and_op([]<class T>(ReduceOp op) {
    if constexpr (!std::is_integral_v<T>) {
      if (op != ReduceOp::min && op != ReduceOp::max) return;
      const T plus = static_cast<T>(static_cast<Accumulator<T>>(0.0));
      const T minus = static_cast<T>(static_cast<Accumulator<T>>(-0.0));
      const T expected = op == ReduceOp::min ? minus : plus;
      EXPECT_TRUE(same(reduced(op, plus, minus), expected)) << name_of(data_type_of<T>);
      EXPECT_TRUE(same(reduced(op, minus, plus), expected)) << name_of(data_type_of<T>);
    }
  });
}

TEST_P(ReduceTest, NaNOnEitherSideGivesNaNForEveryOp) {
  for_each_type_and_op([]<class T>(ReduceOp op) {
    if constexpr (!std::is_integral_v<T>) {
      using A = Accumulator<T>;
      const T nan = static_cast<T>(std::numeric_limits<A>::quiet_NaN());
      for (const A other : {A{1}, A{-0.0}, std::numeric_limits<A>::infinity()}) {
        const T value = static_cast<T>(other);
        EXPECT_TRUE(reference::is_nan(reduced(op, nan, value))) << name_of(data_type_of<T>);
        EXPECT_TRUE(reference::is_nan(reduced(op, value, nan))) << name_of(data_type_of<T>);
      }
    }
  });
}

TEST_P(ReduceTest, ManySmallBfloat16ValuesAreNotLost) {
  std::vector<bfloat16> values(257, bfloat16(1.0f));
  values[0] = bfloat16(256.0f);
  std::vector<const void*> sources;
  for (const bfloat16& value : values) sources.push_back(&value);
  bfloat16 out;
  reduce_many({DataType::bfloat16, ReduceOp::sum}, sources, &out, 1);
  EXPECT_EQ(float(out), 512.0f);
}

}  // namespace
}  // namespace rondo::core
