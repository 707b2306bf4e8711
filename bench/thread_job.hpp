#pragma once

#include <benchmark/benchmark.h>

#include <memory>

#include "transport/thread_transport.hpp"

namespace rondo::bench {

/// The ranks of a benchmark with ->Threads(n): each of its threads is one, and all make the same
/// number of iterations. ->Setup(ThreadJob::start) makes the job before they begin.
class ThreadJob {
 public:
  static void start(const benchmark::State& state) {
    world() = std::make_unique<transport::ThreadWorld>(state.threads());
  }
  static std::unique_ptr<transport::Transport> join(const benchmark::State& state) {
    return world()->transport(state.thread_index());
  }

 private:
  static std::unique_ptr<transport::ThreadWorld>& world() {
    static std::unique_ptr<transport::ThreadWorld> instance;
    return instance;
  }
};

}  // namespace rondo::bench
