/// A job whose ranks do or don't get memory to share: run by ctests that look at what it says.
///
///   shared_memory_program room | no_room | no_room_on_rank_1 | no_room_for_buffers | refused
///
/// Prints the ways that messages took, from rank 0. Fails where a result is wrong.

#include <linux/capability.h>
#include <mpi.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <rondo/rondo.hpp>

#include "transport/shm_segment.hpp"

namespace {

using namespace rondo;

/// Makes a process whose descriptors others may not open, also not as root.
void refuse_descriptors() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> data{};
  if (syscall(SYS_capget, &header, data.data()) != 0) throw std::runtime_error("capget failed");
  for (auto* set : {&data[0].effective, &data[0].permitted, &data[0].inheritable})
    *set &= ~(1U << CAP_SYS_PTRACE);
  if (syscall(SYS_capset, &header, data.data()) != 0) throw std::runtime_error("capset failed");
  if (prctl(PR_SET_DUMPABLE, 0) != 0) throw std::runtime_error("prctl failed");
}

void limit_memory(const std::string& scene) {
  int rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (scene == "no_room" || (scene == "no_room_on_rank_1" && rank == 1))
    transport::limit_segments(0);
  else if (scene == "no_room_for_buffers")
    transport::limit_segments(std::size_t{1200} * 1024);  // an arena fits, and little besides
  else if (scene == "refused")
    refuse_descriptors();
  else if (scene != "room" && scene != "no_room_on_rank_1")
    throw std::runtime_error("shared_memory_program: no such scene: " + scene);
}

void sum(Communicator& world, std::span<float> data) {
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i % 1000);
  world.allreduce(data, ReduceOp::sum);
  for (std::size_t i = 0; i < data.size(); ++i)
    if (data[i] != static_cast<float>(world.size()) * static_cast<float>(i % 1000))
      throw std::runtime_error("a sum is wrong");
  if (world.rank() == 0)
    std::printf("%zu by %s\n", data.size(), std::string(world.last_algorithm()).c_str());
}

void sum_in_all_memory(Communicator& world) {
  std::vector<float> ordinary(500'000);
  SharedBuffer<float> shared(world, ordinary.size());
  for (const std::size_t count : {std::size_t{2}, std::size_t{20'000}, ordinary.size()}) {
    sum(world, std::span(ordinary).first(count));
    sum(world, shared.span().first(count));
  }
}

int run(int argc, char** argv) {
  if (argc != 2) throw std::runtime_error("shared_memory_program SCENE");
  const Environment mpi(argc, argv);
  limit_memory(argv[1]);
  for (int round = 0; round < 2; ++round) {
    Communicator world(MPI_COMM_WORLD);
    sum_in_all_memory(world);
    Communicator part = world.split(world.rank() / 2);
    sum_in_all_memory(part);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return rondo::run_main(argc, argv, run); }
