// How fast a device copies and reduces: device_bench --benchmark_filter=reduce
//
// bytes_per_second counts what is read and written, also of copies, so that a reduction beside
// copy/device tells how near it comes to what the device's memory allows. Names read
// reduce/type/sources/bytes per source.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "device/memory.hpp"
#include "device/runtime.hpp"

namespace {

using rondo::DataType;
using rondo::device::Location;
using rondo::device::Memory;
using rondo::device::MemoryKind;
using rondo::device::Stream;

constexpr int kDevice = 0;

/// Memory of the first device, or pinned for it. Throws Error(cuda).
class Arrays {
 public:
  Memory& add(MemoryKind kind, std::size_t bytes) {
    arrays_.emplace_back(rondo::device::cuda_runtime(), Location{kind, kDevice}, bytes);
    return arrays_.back();
  }

 private:
  std::vector<Memory> arrays_;
};

/// Times `work`, which a stream is told in each iteration, until the stream has done it.
template <typename Work>
void time(benchmark::State& state, std::size_t bytes_moved, const Work& work) {
  const auto stream = rondo::device::cuda_runtime().make_stream(kDevice);
  work(*stream);
  stream->synchronize();
  for (auto _ : state) {
    work(*stream);
    stream->synchronize();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes_moved));
}

void copy(benchmark::State& state, MemoryKind from, MemoryKind to) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  Arrays arrays;
  const void* source = arrays.add(from, bytes).data();
  void* target = arrays.add(to, bytes).data();
  const std::size_t passes = from == to ? 2 : 1;  // over a memory, or over the link between two
  time(state, passes * bytes, [&](Stream& stream) { stream.copy(target, source, bytes); });
}

void reduce(benchmark::State& state, DataType type, std::size_t sources) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  Arrays arrays;
  std::vector<const void*> inputs;
  for (std::size_t i = 0; i < sources; ++i)
    inputs.push_back(arrays.add(MemoryKind::device, bytes).data());
  void* output = arrays.add(MemoryKind::device, bytes).data();
  time(state, (sources + 1) * bytes, [&](Stream& stream) {
    stream.reduce({.type = type, .op = rondo::ReduceOp::sum}, inputs, output,
                  bytes / size_of(type));
  });
}

void narrow(benchmark::State& state) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  Arrays arrays;
  const std::size_t count = bytes / sizeof(float);
  const Stream::Piece piece{arrays.add(MemoryKind::device, bytes).data(),
                            arrays.add(MemoryKind::device, bytes / 2).data(), count};
  time(state, bytes + bytes / 2, [&](Stream& stream) {
    stream.convert({.from = DataType::float32, .to = DataType::bfloat16}, std::span(&piece, 1));
  });
}

template <typename Function, typename... Parameters>
void add(const std::string& name, Function function, Parameters... parameters) {
  benchmark::RegisterBenchmark(name.c_str(), function, parameters...)
      ->RangeMultiplier(16)
      ->Range(1 << 20, 256 << 20)
      ->UseRealTime();
}

void add_all() {
  add("copy/device", &copy, MemoryKind::device, MemoryKind::device);
  add("copy/to_host", &copy, MemoryKind::device, MemoryKind::pinned);
  add("copy/to_device", &copy, MemoryKind::pinned, MemoryKind::device);
  for (const DataType type : {DataType::float32, DataType::bfloat16, DataType::float16})
    for (const std::size_t sources : {2, 4, 8})
      add(fmt::format("reduce/{}/{}", name_of(type), sources), &reduce, type, sources);
  add("convert/float32/bfloat16", &narrow);
}

int run(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return EXIT_FAILURE;
  rondo::device::cuda_runtime().device_count();  // or it says that there is none
  add_all();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return EXIT_FAILURE;
  }
}
