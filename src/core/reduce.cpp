#include "core/reduce.hpp"

#include <array>
#include <bit>
#include <cassert>
#include <cstring>

#include "core/reduce_kernels.hpp"

namespace rondo::core {

namespace {

FoldKernel find_kernel(DataType in, DataType out, ReduceOp op, bool scaled) {
  assert((is_floating(in) || !scaled) && "only floating types are scaled");
  if (!is_floating(in)) return integer_kernel(in, op);
  if (in != accumulator_of(in)) return half_kernel(in, out, op, scaled);
  if (in != out) return half_finish_kernel(out, scaled);
  return floating_kernel(in, op, scaled);
}

void run(DataType in, DataType out, ReduceOp op, const FoldArguments& fold) {
  if (fold.count == 0) return;
  const bool scaled = fold.scale != 1.0 || fold.divisor != 1.0;
  if (fold.source_count == 1 && in == out && !scaled) {
    std::memmove(fold.out, fold.sources[0], fold.count * size_of(in));
    return;
  }
  find_kernel(in, out, op, scaled)(fold);
}

}  // namespace

void reduce(DataType type, ReduceOp op, const void* a, const void* b, void* out,
            std::size_t count) {
  const std::array sources{a, b};
  run(type, type, op, {sources.data(), sources.size(), out, count, 1.0, 1.0});
}

void reduce_many(const Fold& fold, std::span<const void* const> sources, void* out,
                 std::size_t count) {
  assert(!sources.empty());
  run(fold.type, fold.partial ? accumulator_of(fold.type) : fold.type, fold.op,
      {sources.data(), sources.size(), out, count, fold.scale, fold.divisor});
}

void convert(const Conversion& conversion, const void* in, void* out, std::size_t count) {
  run(conversion.from, conversion.to, ReduceOp::sum,
      {&in, 1, out, count, conversion.scale, conversion.divisor});
}

void load(DataType type, double scale, const void* in, void* accumulator, std::size_t count) {
  convert({.from = type, .to = accumulator_of(type), .scale = scale}, in, accumulator, count);
}

void finish(DataType type, double divisor, const void* accumulator, void* out, std::size_t count) {
  convert({.from = accumulator_of(type), .to = type, .divisor = divisor}, accumulator, out, count);
}

AverageScaling average_scaling(int ranks) {
  assert(ranks > 0);
  const double power = std::bit_ceil(static_cast<unsigned>(ranks));
  return {.scale = 1.0 / power, .divisor = ranks / power};
}

}  // namespace rondo::core
