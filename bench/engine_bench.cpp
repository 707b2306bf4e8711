// What a call costs beside its work: engine_bench --benchmark_filter=node
//
// Ranks are threads of this process (MPI is not involved). Names read
// call/path/bytes/real_time/threads:ranks. "node": through shared memory, as within a node;
// "messages": by the transport's messages, as between nodes, over a queue in memory that locks.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <rondo/communicator.hpp>

#include "engine/session.hpp"
#include "thread_job.hpp"

namespace {

using rondo::Communicator;
using rondo::ReduceOp;
using rondo::bench::ThreadJob;

using Progress = rondo::core::Settings::Progress;

Communicator communicator_of(const benchmark::State& state, bool shm,
                             Progress progress = Progress::thread) {
  rondo::core::Settings settings;
  settings.progress = progress;
  settings.shm = shm;
  return Communicator(
      std::make_unique<rondo::engine::Session>(ThreadJob::join(state), rondo::Options{}, settings));
}

void allreduce(benchmark::State& state, bool shm) {
  Communicator world = communicator_of(state, shm);
  std::vector<float> data(static_cast<std::size_t>(state.range(0)) / sizeof(float));
  for (auto _ : state) world.allreduce(std::span(data), ReduceOp::sum);
  state.SetLabel(std::string(world.last_algorithm()));
}

void wait_at_once(benchmark::State& state, bool shm, Progress progress) {
  Communicator world = communicator_of(state, shm, progress);
  std::vector<float> data(static_cast<std::size_t>(state.range(0)) / sizeof(float));
  for (auto _ : state) world.iallreduce(std::span(data), ReduceOp::sum).wait();
}

/// An all-reduce that doesn't wait, and the wait for it.
void iallreduce(benchmark::State& state, bool shm) { wait_at_once(state, shm, Progress::thread); }
void iallreduce_polled(benchmark::State& state, bool shm) {
  wait_at_once(state, shm, Progress::poll);
}

void barrier(benchmark::State& state, bool shm) {
  Communicator world = communicator_of(state, shm);
  for (auto _ : state) world.barrier();
}

void add_all() {
  for (const int ranks : {1, 2}) {
    for (const bool shm : {true, false}) {
      if (ranks == 1 && shm) continue;  // a rank alone shares memory with nobody
      const char* path = shm ? "node" : "messages";
      const auto add = [&](const char* call, auto* function) {
        const std::string name = fmt::format("{}/{}", call, path);
        return benchmark::RegisterBenchmark(name.c_str(), function, shm)
            ->Setup(ThreadJob::start)
            ->Threads(ranks)
            ->UseRealTime();
      };
      add("allreduce", &allreduce)->Arg(8)->Arg(4096);
      add("iallreduce", &iallreduce)->Arg(8)->Arg(4096);
      add("iallreduce_polled", &iallreduce_polled)->Arg(8);
      add("barrier", &barrier);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  add_all();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
