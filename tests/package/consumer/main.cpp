// What a user writes: an all-reduce and a training step, with nothing of Rondo's build around it.
#include <cstdio>
#include <vector>

#include <rondo/rondo.hpp>
#include <rondo/train/train.hpp>

static bool reduces_rightly(rondo::Communicator& world) {
  std::vector<float> values(1000, static_cast<float>(world.rank() + 1));
  world.allreduce(std::span<float>(values), rondo::ReduceOp::sum);
  const float expected = static_cast<float>(world.size() * (world.size() + 1) / 2);
  for (const float value : values)
    if (value != expected) return false;
  return true;
}

static bool trains_rightly() {
  rondo::train::Linear<double> layer("linear", 2, 1);
  const auto optimizer = rondo::train::sgd<double>(layer.parameters());
  layer.weight().gradient()[0] = -3.0;
  optimizer->step(1.0);
  const std::vector<double> input{2.0, 5.0};
  return layer.forward(input, 1)[0] == 6.0;
}

static int body(int argc, char** argv) {
  const rondo::Environment mpi(argc, argv);
  rondo::Communicator world(MPI_COMM_WORLD);
  if (!reduces_rightly(world) || !trains_rightly()) return 1;
  if (world.rank() == 0) std::printf("consumer: %d ranks agree\n", world.size());
  return 0;
}

int main(int argc, char** argv) { return rondo::run_main(argc, argv, body); }
