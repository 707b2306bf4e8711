#include "collectives/contract.hpp"

namespace rondo::collectives {

bool Contract::reduces() const { return collectives::reduces(collective_); }

bool Contract::has_input(Rank rank, int block) const {
  switch (collective_) {
    case Collective::broadcast:
    case Collective::scatter:
      return rank == 0;
    case Collective::allgather:
    case Collective::gather:
      return block == rank;
    default:
      return true;
  }
}

bool Contract::promises(Rank rank, int block) const {
  switch (collective_) {
    case Collective::reduce:
    case Collective::gather:
      return rank == 0;
    case Collective::reduce_scatter:
    case Collective::scatter:
      return block == rank;
    default:
      return true;
  }
}

Contract::Origin Contract::origin_of(Rank rank, int block) const {
  switch (collective_) {
    case Collective::allgather:
    case Collective::gather:
      return {block, block};
    case Collective::all_to_all:
      return {block, rank};
    default:
      return {0, block};
  }
}

}  // namespace rondo::collectives
