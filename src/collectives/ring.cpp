#include "collectives/algorithms.hpp"

/// Each rank sends to the next one and receives from the previous one, all the time.
namespace rondo::collectives {

namespace {

class Ring {
 public:
  Ring(Rank rank, int size) : rank_(rank), size_(size) {}

  Rank next() const { return around(rank_ + 1); }
  Rank previous() const { return around(rank_ - 1); }
  /// The block `offset` places after this rank's own.
  int block(int offset) const { return around(rank_ + offset); }

 private:
  int around(int i) const { return (i % size_ + size_) % size_; }

  Rank rank_;
  int size_;
};

}  // namespace

/// Ring reduce-scatter followed by ring all-gather (Patarasuk & Yuan, 2009).
///
///   rank r, step k:  send block r-k  →  r+1      receive block r-k-1  ←  r-1
///
/// Steps 2(n-1); each rank sends 2(n-1)/n of the message, which is the least any algorithm can
/// send.
Plan ring_allreduce(const Group& group) {
  const int size = group.size;
  const Ring ring(group.rank, size);
  Plan plan(group.rank, size, size);
  for (int step = 0; step < size - 1; ++step)
    plan.exchange({ring.next(), ring.block(-step)}, {ring.previous(), ring.block(-step - 1)},
                  Action::reduce);
  for (int step = 0; step < size - 1; ++step)
    plan.exchange({ring.next(), ring.block(1 - step)}, {ring.previous(), ring.block(-step)},
                  Action::copy);
  plan.complete(0, size);
  return plan;
}

/// The first half of the ring all-reduce, started one block earlier so that rank r ends with block
/// r.
///
///   rank r, step k:  send block r-k-1  →  r+1      receive block r-k-2  ←  r-1
///
/// Steps n-1; each rank sends (n-1)/n of the message, the least possible.
Plan ring_reduce_scatter(const Group& group) {
  const int size = group.size;
  const Ring ring(group.rank, size);
  Plan plan(group.rank, size, size);
  for (int step = 0; step < size - 1; ++step)
    plan.exchange({ring.next(), ring.block(-step - 1)}, {ring.previous(), ring.block(-step - 2)},
                  Action::reduce);
  plan.complete(group.rank, 1);
  return plan;
}

/// Every block travels once round the ring.
///
///   rank r, step k:  send block r-k  →  r+1      receive block r-k-1  ←  r-1
///
/// Steps n-1; each rank sends (n-1)/n of the result, the least possible.
Plan ring_allgather(const Group& group) {
  const int size = group.size;
  const Ring ring(group.rank, size);
  Plan plan(group.rank, size, size);
  plan.copy_input(group.rank);
  for (int step = 0; step < size - 1; ++step)
    plan.exchange({ring.next(), ring.block(-step)}, {ring.previous(), ring.block(-step - 1)},
                  Action::copy);
  return plan;
}

}  // namespace rondo::collectives
