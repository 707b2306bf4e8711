// What running a plan costs: executor_bench --benchmark_filter=ring
//
// Ranks are threads of this process, and messages go through a queue in memory that locks, so that
// this compares executors, not networks. Names read algorithm/bytes/segment bytes/…/threads:ranks.
// "steps" counts a rank's plan steps a second.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "collectives/executor.hpp"
#include "collectives/program.hpp"
#include "collectives/registry.hpp"
#include "thread_job.hpp"

namespace {

using namespace rondo;
using collectives::Arithmetic;
using collectives::Collective;
using collectives::Layout;
using collectives::Program;
using rondo::bench::ThreadJob;

Program program_of(std::string_view algorithm, const transport::Transport& transport) {
  const auto& found = collectives::find_algorithm(Collective::allreduce, algorithm);
  return {found.plan({transport.rank(), transport.size(), &transport.topology()}), {}};
}

void run(collectives::Executor& executor) {
  while (!executor.step())
    if (!executor.progressed()) std::this_thread::yield();
}

void allreduce(benchmark::State& state, std::string_view algorithm) {
  const auto transport = ThreadJob::join(state);
  const Program program = program_of(algorithm, *transport);
  const auto count = static_cast<std::size_t>(state.range(0)) / sizeof(float);
  const Layout layout = Layout::even(count, program.blocks());
  std::vector<float> input(count);
  std::vector<float> output(count);

  collectives::Operands operands;
  operands.input.data = reinterpret_cast<std::byte*>(input.data());
  operands.output.data = reinterpret_cast<std::byte*>(output.data());
  operands.input_layout = operands.output_layout = &layout;
  operands.arithmetic = Arithmetic(DataType::float32, ReduceOp::sum, transport->size(), 1.0, false);
  operands.partials_in_output = true;
  operands.segment_bytes = static_cast<std::size_t>(state.range(1));
  collectives::Executor executor(*transport);
  for (auto _ : state) {
    executor.start(program, operands);
    run(executor);
  }
  const double steps = static_cast<double>(program.steps().size() * state.iterations());
  state.counters["steps"] =
      benchmark::Counter(steps, benchmark::Counter::kIsRate | benchmark::Counter::kAvgThreads);
}

void add_all() {
  constexpr std::int64_t kSegment = 128 << 10;
  for (const char* algorithm : {"ring", "recursive_doubling", "halving_doubling", "butterfly"})
    for (const int ranks : {1, 2, 4})
      benchmark::RegisterBenchmark(algorithm, &allreduce, std::string_view(algorithm))
          ->Setup(ThreadJob::start)
          ->Args({8, kSegment})
          ->Args({64 << 10, kSegment})
          ->Args({4 << 20, kSegment})
          ->Args({4 << 20, 16 << 10})
          ->Threads(ranks)
          ->UseRealTime();
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  add_all();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
