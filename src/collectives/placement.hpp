#pragma once

#include <string>

#include "transport/transport.hpp"

namespace rondo::collectives {

/// Where the ranks of a communicator lie and what they meet by: what times depend on, besides the
/// machine.
struct Placement {
  std::string transport;  // "Open MPI"
  int ranks = 1;
  int nodes = 1;
  int lanes = 1;               // ranks on the node that has the fewest
  bool shares_memory = false;  // the ranks of a node meet in shared memory

  friend bool operator==(const Placement&, const Placement&) = default;
};

/// That of a transport's ranks.
inline Placement placement_of(const transport::Transport& transport, bool shares_memory) {
  const transport::Topology& topology = transport.topology();
  return {transport.name(), topology.size(), topology.nodes(), topology.lanes(),
          shares_memory && topology.nodes() < topology.size()};
}

/// "4 ranks on 2 nodes (2 lanes, shared memory, Open MPI)"
std::string describe(const Placement& placement);

}  // namespace rondo::collectives
