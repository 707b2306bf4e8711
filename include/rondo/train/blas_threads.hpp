#pragma once

namespace rondo {
class Communicator;
}

namespace rondo::train {

/// Limits this process's BLAS to its share of the machine: the processors that the ranks on this
/// host may run on ÷ those ranks, at least 1, and no more than OPENBLAS_NUM_THREADS. Returns that
/// number. Collective, once per process, before training. Without it, every rank's BLAS would use
/// every processor.
int limit_blas_threads(Communicator& communicator);

}  // namespace rondo::train
