// How fast the reduction kernels are on one core: reduce_bench --benchmark_filter=float32
//
// bytes_per_second counts what is read and written. Names read type/op/sources/bytes per source.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <rondo/types.hpp>

#include "core/reduce.hpp"

namespace {

using rondo::DataType;
using rondo::ReduceOp;

// Arrays of `bytes` bytes each, which hold small numbers of whatever type.
class Arrays {
 public:
  Arrays(std::size_t arrays, std::size_t bytes) : memory_(arrays, std::vector<std::byte>(bytes)) {
    for (std::vector<std::byte>& array : memory_) {
      std::memset(array.data(), 1, bytes);
      sources_.push_back(array.data());
    }
  }
  const std::vector<const void*>& sources() const { return sources_; }

 private:
  std::vector<std::vector<std::byte>> memory_;
  std::vector<const void*> sources_;
};

void reduce(benchmark::State& state, rondo::core::Fold fold, std::size_t sources) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  const Arrays arrays(sources, bytes);
  std::vector<std::byte> out(bytes);
  const std::size_t count = bytes / rondo::size_of(fold.type);
  for (auto _ : state) {
    rondo::core::reduce_many(fold, arrays.sources(), out.data(), count);
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>((sources + 1) * bytes));
}

void add(rondo::core::Fold fold, std::size_t sources) {
  const std::string name = fmt::format("{}/{}/{}", name_of(fold.type), name_of(fold.op), sources);
  benchmark::RegisterBenchmark(name.c_str(), &reduce, fold, sources)
      ->RangeMultiplier(64)
      ->Range(16 << 10, 64 << 20);
}

void add_all() {
  for (int type = 0; type < rondo::kDataTypes; ++type) {
    for (int op = 0; op < rondo::kReduceOps; ++op) {
      rondo::core::Fold fold{.type = DataType(type), .op = ReduceOp(op)};
      if (fold.op == ReduceOp::avg) {
        if (!rondo::is_floating(fold.type)) continue;
        const auto scaling = rondo::core::average_scaling(3);
        fold.scale = scaling.scale;
        fold.divisor = scaling.divisor;
      }
      for (const std::size_t sources : {2, 8}) add(fold, sources);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::AddCustomContext("instruction_set", rondo::core::instruction_set());
  add_all();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
