#pragma once

#include <cstddef>
#include <vector>

#include "collectives/plan.hpp"
#include "collectives/registry.hpp"

namespace rondo::collectives {

/// What a message and a reduction cost (Hockney's model, 1994, with a term for reducing; with
/// `wire`, close to LogGP: Alexandrov, Ionescu, Schauser & Scheiman, 1995).
struct CostModel {
  double alpha = 0;  ///< seconds per message, whatever its size
  double wire = 0;   ///< the part of alpha in which the message is under way and its ports are free
  double beta = 0;   ///< seconds per byte sent
  double gamma = 0;  ///< seconds per byte reduced
};

/// What is simulated.
struct Scenario {
  std::size_t bytes = 0;    ///< of the message; of all blocks together where each rank has one
  std::size_t segment = 0;  ///< bytes of a message at most; 0: steps stay whole
  int window = 4;           ///< segments of a stream in flight
  CostModel cost = {};
};

/// One message: its sides' ranks, the numbers of their steps, and when it began and arrived.
struct Message {
  Rank from;
  Rank to;
  int send_step;
  int receive_step;
  double begin;
  double end;
};

/// What came of a scenario.
struct Outcome {
  double seconds = 0;             ///< from the common start to the end of the last rank
  std::vector<Message> messages;  ///< in the order of their ends
};

/// Runs the plans of all ranks without a cluster.
///
/// Each rank has one port to send and one to receive, which work at the same time, and one
/// processor that reduces. A message takes alpha + beta·bytes and holds both its ports for all of
/// that but the last `wire`; it starts when both sides are ready and both ports are free, the one
/// that has been ready longest first. Copying
/// and rounding cost nothing. Otherwise ranks follow the executor's rules (see Replay).
///
/// Time and memory of the simulation grow with the number of messages: seconds for 10,000 ranks and
/// algorithms of log2 n steps, but 2·10^8 messages for a ring of 10,000.
Outcome simulate(const Algorithm& algorithm, const transport::Topology& topology,
                 const Scenario& scenario);

}  // namespace rondo::collectives
