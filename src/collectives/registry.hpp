#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "collectives/collective.hpp"
#include "collectives/plan.hpp"

namespace rondo::collectives {

/// Who takes part: what an algorithm may know. Ranks and nodes are already renumbered so that the
/// root is rank 0.
struct Group {
  Rank rank;
  int size;
  const transport::Topology* topology;  // of `size` ranks; never null
  /// The new number of the caller's rank 0: deterministic algorithms count ranks from it, so that
  /// the value does not depend on the root.
  Rank origin = 0;
};

/// How an algorithm runs.
enum class Path : std::uint8_t {
  network,       // by its plan, over the transport
  piggyback,     // on the messages of the agreement (Agreement)
  node,          // through memory that all ranks share (NodeExchange)
  hierarchical,  // within nodes through memory, and between them by plans (Hierarchical)
  vendor,        // by a collective of the transport's own (transport::Vendor)
  peers,         // by devices that reach the memory of all ranks (PeerOperation)
  group,         // by a collective of the devices' own (device::Group)
};

/// "network", "piggyback", …
std::string_view name_of(Path path);

/// An algorithm of a collective; on the network, a pure function from a rank to what it does.
struct Algorithm {
  std::string_view name;  // "ring"
  Collective collective;
  Plan (*plan)(const Group& group);
  /// Number of blocks that the message is cut into for this group (the same on all ranks).
  int (*blocks)(const Group& group);
  /// Gives the canonical value of deterministic mode.
  bool deterministic = false;
  Path path = Path::network;

  /// Whether it gives the canonical value among ranks of so many nodes. A butterfly of ranks is one
  /// of nodes if each has one.
  bool is_canonical(int ranks, int nodes) const {
    return deterministic || (path == Path::piggyback && ranks == nodes);
  }
};

/// Every algorithm that has a plan, one line each.
std::span<const Algorithm> algorithms();
/// Every algorithm: those without a plan too.
std::span<const Algorithm> all_algorithms();

/// Throws Error(usage) naming the algorithms that `collective` has.
const Algorithm& find_algorithm(Collective collective, std::string_view name);

}  // namespace rondo::collectives
