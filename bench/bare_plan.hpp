#pragma once

#include <rondo/communicator.hpp>

#include <cstddef>
#include <memory>

#include "collectives/executor.hpp"
#include "collectives/selector.hpp"
#include "engine/program_cache.hpp"
#include "transport/transport.hpp"

namespace rondo::bench {

/// All-reduces of float32 sums that only move and add the data: the plan and its executor, without
/// the agreement that runs beside them in a Communicator. What the agreement costs is the
/// difference.
class BarePlan {
 public:
  /// Collective.
  explicit BarePlan(MPI_Comm comm);

  void allreduce(const collectives::Choice& choice, const float* input, float* output,
                 std::size_t count);

 private:
  std::unique_ptr<transport::Transport> transport_;
  collectives::Executor executor_;
  engine::ProgramCache programs_;
};

}  // namespace rondo::bench
