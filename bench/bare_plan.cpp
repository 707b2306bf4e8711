#include "bare_plan.hpp"

#include <chrono>

#include "core/backoff.hpp"
#include "transport/mpi_connect.hpp"

namespace rondo::bench {

BarePlan::BarePlan(MPI_Comm comm)
    : transport_(transport::connect(comm, std::chrono::minutes(1))),
      executor_(*transport_),
      programs_(transport_->rank(), transport_->topology()) {}

void BarePlan::allreduce(const collectives::Choice& choice, const float* input, float* output,
                         std::size_t count) {
  bool is_new = false;
  const collectives::Program& program = programs_.get(*choice.algorithm, 0, false, is_new);
  const auto layout = collectives::Layout::even(count, program.blocks());
  collectives::Operands operands;
  // The executor only reads its input.
  operands.input = {reinterpret_cast<std::byte*>(const_cast<float*>(input)), 0};
  operands.output = {reinterpret_cast<std::byte*>(output), 0};
  operands.input_layout = operands.output_layout = &layout;
  operands.arithmetic =
      collectives::Arithmetic(DataType::float32, ReduceOp::sum, transport_->size(), 1.0, false);
  operands.partials_in_output = true;
  operands.segment_bytes = choice.segment_bytes;
  executor_.start(program, operands);
  core::Backoff backoff;
  while (!executor_.step())
    if (!executor_.progressed()) transport_->pause(backoff);
}

}  // namespace rondo::bench
