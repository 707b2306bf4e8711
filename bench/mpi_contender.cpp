#include <mpi.h>

#include <optional>

#include "contender.hpp"
#include "core/narrow.hpp"
#include "transport/mpi_types.hpp"

namespace rondo::bench {

namespace {

using transport::mpi_op;
using transport::mpi_type;

class MpiContender final : public Contender {
 public:
  MpiContender() : Contender("mpi") {}

  bool supports(const Workload& work) const override {
    // MPI would leave the result at the beginning of the input, where nobody looks for it.
    if (work.collective == Collective::reduce_scatter && work.in_place) return false;
    return mpi_type(work.type).has_value() &&
           (mpi_op(work.op).has_value() || !collectives::reduces(work.collective));
  }

  // Errors end the job, as is MPI's default.
  void run(const Workload& work, std::byte* input, std::byte* output) override {
    const MPI_Datatype type = *mpi_type(work.type);
    const MPI_Op op = mpi_op(work.op).value_or(MPI_OP_NULL);
    const int count = core::narrow<int>(work.count);
    const int block = core::narrow<int>(work.block());
    const void* in = work.in_place ? MPI_IN_PLACE : input;
    switch (work.collective) {
      case Collective::allreduce:
        MPI_Allreduce(in, output, count, type, op, MPI_COMM_WORLD);
        return;
      case Collective::reduce_scatter:
        MPI_Reduce_scatter_block(in, output, block, type, op, MPI_COMM_WORLD);
        return;
      case Collective::allgather:
        MPI_Allgather(in, block, type, output, block, type, MPI_COMM_WORLD);
        return;
      case Collective::broadcast:
        MPI_Bcast(output, count, type, Workload::kRoot, MPI_COMM_WORLD);
        return;
      case Collective::reduce:
        MPI_Reduce(work.rank == Workload::kRoot ? in : input, output, count, type, op,
                   Workload::kRoot, MPI_COMM_WORLD);
        return;
      default:
        MPI_Barrier(MPI_COMM_WORLD);
    }
  }
};

}  // namespace

std::unique_ptr<Contender> make_mpi() { return std::make_unique<MpiContender>(); }

}  // namespace rondo::bench
