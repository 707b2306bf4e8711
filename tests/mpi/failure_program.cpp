/// A job in which one rank goes wrong: run by failure_test.py, which looks at how the job ends.
///
///   failure_program FAULT RANK STEP
///
/// All ranks make the same series of collectives; at STEP, RANK does FAULT instead.

#include <mpi.h>
#include <signal.h>

#include <cstdio>
#include <cstdlib>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <rondo/rondo.hpp>

namespace {

using namespace rondo;

constexpr int kSteps = 200;

struct Fault {
  std::string kind;
  Rank rank;
  int step;
};

void reduce(Communicator& world, std::size_t count, ReduceOp op = ReduceOp::sum,
            const Options& options = {}) {
  std::vector<float> data(count, 1.0F);
  world.allreduce(std::span(data), op, options);
}

/// The step's collective: sizes from 0 to some 400 kB, so that every path is met.
std::size_t count_at(int step) {
  return static_cast<std::size_t>(step) * static_cast<std::size_t>(step % 7) * 83;
}

/// A collective that differs from the others' in one field.
void mismatch(Communicator& world, const std::string& field, std::size_t count) {
  if (field == "count") return reduce(world, count + 1);
  if (field == "op") return reduce(world, count, ReduceOp::max);
  if (field == "algorithm") return reduce(world, count, ReduceOp::sum, {.algorithm = "ring"});
  if (field == "segment") return reduce(world, count, ReduceOp::sum, {.segment_bytes = 4096});
  if (field == "scale") return reduce(world, count, ReduceOp::sum, {.scale = 2.0});
  if (field == "deterministic") return reduce(world, count, ReduceOp::sum, {.deterministic = true});
  if (field == "collective") return world.barrier();
  if (field == "type") {
    std::vector<double> data(count);
    return world.allreduce(std::span(data), ReduceOp::sum);
  }
  throw std::runtime_error("failure_program: no such field: " + field);
}

/// True when the rank ends here.
bool commit(const Fault& fault, Communicator& world) {
  const std::size_t count = count_at(fault.step);
  if (fault.kind == "throw") throw std::runtime_error("rank fails on purpose");
  if (fault.kind == "finalize") return true;
  if (fault.kind == "kill") raise(SIGKILL);
  if (fault.kind == "stop") raise(SIGSTOP);
  if (fault.kind == "exit") std::_Exit(3);
  if (fault.kind == "usage") world.broadcast(Buffer(), -1);
  mismatch(world, fault.kind, count);
  return false;
}

int run(int argc, char** argv) {
  if (argc != 4) throw std::runtime_error("failure_program FAULT RANK STEP");
  const Fault fault{argv[1], std::atoi(argv[2]), std::atoi(argv[3])};
  const Environment mpi(argc, argv);
  Communicator world(MPI_COMM_WORLD);
  for (int step = 0; step < kSteps; ++step) {
    if (step == fault.step && world.rank() == fault.rank && commit(fault, world)) return 0;
    reduce(world, count_at(step));
  }
  std::puts("failure_program: every rank got through");
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return rondo::run_main(argc, argv, run); }
